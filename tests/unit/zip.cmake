# lib/zip: archives of strangers.
orch_fuzz(zip orch_zip)
