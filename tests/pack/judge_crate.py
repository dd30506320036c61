"""judge_crate.py FOLDER: judges an unpacked pack by roc-validator (RO-Crate and the three profiles of Workflow Run
RO-Crate), in-toto's statement and securesystemslib's DSSE envelope. The context of RO-Crate 1.1 comes from the package
rocrate (0.13), so that no connection is needed. Prints what they complain of, and exits with 1 then."""
import base64
import io
import json
import os
import sys
import urllib.request

import requests
import rocrate

CONTEXT = open(os.path.join(os.path.dirname(rocrate.__file__), "data", "ro-crate.jsonld"), "rb").read()
if not json.loads(CONTEXT)["version"].startswith("1.1"):
    sys.exit("the package rocrate has another context than that of RO-Crate 1.1: pip install rocrate==0.13.0")


def send(self, request, **kwargs):
    response = requests.Response()
    response.status_code = 200 if "ro/crate/1.1/context" in request.url else 404
    response.raw = io.BytesIO(CONTEXT if response.status_code == 200 else b"")
    response.headers["Content-Type"] = "application/ld+json"
    response.url, response.request = request.url, request
    return response


class Answer(io.BytesIO):
    headers = {"Content-Type": "application/ld+json"}
    status = code = 200

    def info(self):
        return self.headers

    def geturl(self):
        return "https://w3id.org/ro/crate/1.1/context"


requests.adapters.HTTPAdapter.send = send
urllib.request.OpenerDirector.open = lambda self, url, *a, **k: Answer(CONTEXT)


def crate_complaints(folder):
    from rocrate_validator import models, services
    for profile in ("ro-crate-1.1", "process-run-crate-0.5", "workflow-run-crate-0.5", "provenance-run-crate-0.5"):
        settings = services.ValidationSettings(rocrate_uri=folder, profile_identifier=profile, no_cache=True,
                                               requirement_severity=models.Severity.REQUIRED)
        result = services.validate(settings)
        print(f"{profile}: {len(result.executed_checks)} checks, {len(result.get_issues())} issues")
        for issue in result.get_issues():
            yield f"{profile}: {issue.check.identifier}: {issue.message}"


def statement_complaints(folder):
    from google.protobuf import json_format
    from in_toto_attestation.v1.statement import Statement
    from securesystemslib.dsse import Envelope
    envelope = Envelope.from_dict(json.load(open(os.path.join(folder, "statement.dsse.json"))))
    payload = json.loads(envelope.payload)
    try:
        from in_toto_attestation.v1.resource_descriptor import ResourceDescriptor
        subjects = [ResourceDescriptor(name=s["name"], digest=s["digest"]).pb for s in payload["subject"]]
        Statement(subjects, payload["predicateType"], payload["predicate"]).validate()
        from in_toto_attestation.predicates.provenance.v1 import provenance_pb2
        json_format.ParseDict(payload["predicate"], provenance_pb2.Provenance())
    except Exception as error:
        yield f"statement: {error}"
    with open("pae", "wb") as out:
        out.write(envelope.pae())
    with open("sig", "wb") as out:
        out.write(base64.b64decode(next(iter(envelope.to_dict()["signatures"]))["sig"]))


found = [*crate_complaints(sys.argv[1]), *statement_complaints(sys.argv[1])]
print("\n".join(found))
sys.exit(1 if found else 0)
