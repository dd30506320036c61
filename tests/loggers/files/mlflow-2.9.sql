CREATE TABLE experiments (
	experiment_id INTEGER NOT NULL, 
	name VARCHAR(256) NOT NULL, 
	artifact_location VARCHAR(256), 
	lifecycle_stage VARCHAR(32), creation_time BIGINT, last_update_time BIGINT, 
	CONSTRAINT experiment_pk PRIMARY KEY (experiment_id), 
	CONSTRAINT experiments_lifecycle_stage CHECK (lifecycle_stage IN ('active', 'deleted')), 
	UNIQUE (name)
);
CREATE TABLE "runs" (
	run_uuid VARCHAR(32) NOT NULL, 
	name VARCHAR(250), 
	source_type VARCHAR(20), 
	source_name VARCHAR(500), 
	entry_point_name VARCHAR(50), 
	user_id VARCHAR(256), 
	status VARCHAR(9), 
	start_time BIGINT, 
	end_time BIGINT, 
	source_version VARCHAR(50), 
	lifecycle_stage VARCHAR(20), 
	artifact_uri VARCHAR(200), 
	experiment_id INTEGER, deleted_time BIGINT, 
	CONSTRAINT run_pk PRIMARY KEY (run_uuid), 
	CONSTRAINT runs_lifecycle_stage CHECK (lifecycle_stage IN ('active', 'deleted')), 
	CONSTRAINT source_type CHECK (source_type IN ('NOTEBOOK', 'JOB', 'LOCAL', 'UNKNOWN', 'PROJECT')), 
	FOREIGN KEY(experiment_id) REFERENCES experiments (experiment_id), 
	CHECK (status IN ('SCHEDULED', 'FAILED', 'FINISHED', 'RUNNING', 'KILLED'))
);
CREATE TABLE "params" (
	"key" VARCHAR(250) NOT NULL, 
	value VARCHAR(8000) NOT NULL, 
	run_uuid VARCHAR(32) NOT NULL, 
	CONSTRAINT param_pk PRIMARY KEY ("key", run_uuid), 
	FOREIGN KEY(run_uuid) REFERENCES runs (run_uuid)
);
CREATE TABLE "tags" (
	"key" VARCHAR(250) NOT NULL, 
	value VARCHAR(5000), 
	run_uuid VARCHAR(32) NOT NULL, 
	CONSTRAINT tag_pk PRIMARY KEY ("key", run_uuid), 
	FOREIGN KEY(run_uuid) REFERENCES runs (run_uuid)
);
CREATE TABLE "metrics" (
	"key" VARCHAR(250) NOT NULL, 
	value FLOAT NOT NULL, 
	timestamp BIGINT NOT NULL, 
	run_uuid VARCHAR(32) NOT NULL, 
	step BIGINT DEFAULT '0' NOT NULL, 
	is_nan BOOLEAN DEFAULT '0' NOT NULL, 
	CONSTRAINT metric_pk PRIMARY KEY ("key", timestamp, step, run_uuid, value, is_nan), 
	FOREIGN KEY(run_uuid) REFERENCES runs (run_uuid), 
	CHECK (is_nan IN (0, 1))
);
CREATE TABLE "latest_metrics" (
	"key" VARCHAR(250) NOT NULL, 
	value FLOAT NOT NULL, 
	timestamp BIGINT, 
	step BIGINT NOT NULL, 
	is_nan BOOLEAN NOT NULL, 
	run_uuid VARCHAR(32) NOT NULL, 
	CONSTRAINT latest_metric_pk PRIMARY KEY ("key", run_uuid), 
	FOREIGN KEY(run_uuid) REFERENCES runs (run_uuid), 
	CHECK (is_nan IN (0, 1))
);
INSERT INTO "experiments" VALUES(0,'Default','/m/mlruns/0','active',1795953786519,1795953786519);
INSERT INTO "experiments" VALUES(1,'e','/m/mlruns/1','active',1795953786571,1795953786571);
INSERT INTO "latest_metrics" VALUES('loss',0.125,1795953787345,7,0,'f7a2a34188ea4aa9915f5dfe6f3e1a87');
INSERT INTO "latest_metrics" VALUES('train/acc',0.875,1795953787393,7,0,'f7a2a34188ea4aa9915f5dfe6f3e1a87');
INSERT INTO "latest_metrics" VALUES('odd',0.0,1795953787446,0,1,'f7a2a34188ea4aa9915f5dfe6f3e1a87');
INSERT INTO "latest_metrics" VALUES('far',1.79769313486231562234e+308,1795953787486,0,0,'f7a2a34188ea4aa9915f5dfe6f3e1a87');
INSERT INTO "latest_metrics" VALUES('loss',3.0,1795953787593,1,0,'b2ac7801e04d4a3b990e0430baffcc1d');
INSERT INTO "metrics" VALUES('loss',1.0,1795953786745,'f7a2a34188ea4aa9915f5dfe6f3e1a87',0,0);
INSERT INTO "metrics" VALUES('train/acc',0.0,1795953786797,'f7a2a34188ea4aa9915f5dfe6f3e1a87',0,0);
INSERT INTO "metrics" VALUES('loss',0.5,1795953786837,'f7a2a34188ea4aa9915f5dfe6f3e1a87',1,0);
INSERT INTO "metrics" VALUES('train/acc',0.125,1795953786881,'f7a2a34188ea4aa9915f5dfe6f3e1a87',1,0);
INSERT INTO "metrics" VALUES('loss',3.33333333333333314829e-01,1795953786943,'f7a2a34188ea4aa9915f5dfe6f3e1a87',2,0);
INSERT INTO "metrics" VALUES('train/acc',0.25,1795953786974,'f7a2a34188ea4aa9915f5dfe6f3e1a87',2,0);
INSERT INTO "metrics" VALUES('loss',0.25,1795953787009,'f7a2a34188ea4aa9915f5dfe6f3e1a87',3,0);
INSERT INTO "metrics" VALUES('train/acc',0.375,1795953787045,'f7a2a34188ea4aa9915f5dfe6f3e1a87',3,0);
INSERT INTO "metrics" VALUES('loss',0.2,1795953787081,'f7a2a34188ea4aa9915f5dfe6f3e1a87',4,0);
INSERT INTO "metrics" VALUES('train/acc',0.5,1795953787125,'f7a2a34188ea4aa9915f5dfe6f3e1a87',4,0);
INSERT INTO "metrics" VALUES('loss',1.66666666666666657414e-01,1795953787169,'f7a2a34188ea4aa9915f5dfe6f3e1a87',5,0);
INSERT INTO "metrics" VALUES('train/acc',0.625,1795953787201,'f7a2a34188ea4aa9915f5dfe6f3e1a87',5,0);
INSERT INTO "metrics" VALUES('loss',1.42857142857142849212e-01,1795953787237,'f7a2a34188ea4aa9915f5dfe6f3e1a87',6,0);
INSERT INTO "metrics" VALUES('train/acc',0.75,1795953787275,'f7a2a34188ea4aa9915f5dfe6f3e1a87',6,0);
INSERT INTO "metrics" VALUES('loss',0.125,1795953787345,'f7a2a34188ea4aa9915f5dfe6f3e1a87',7,0);
INSERT INTO "metrics" VALUES('train/acc',0.875,1795953787393,'f7a2a34188ea4aa9915f5dfe6f3e1a87',7,0);
INSERT INTO "metrics" VALUES('odd',0.0,1795953787446,'f7a2a34188ea4aa9915f5dfe6f3e1a87',0,1);
INSERT INTO "metrics" VALUES('far',1.79769313486231562234e+308,1795953787486,'f7a2a34188ea4aa9915f5dfe6f3e1a87',0,0);
INSERT INTO "metrics" VALUES('loss',3.0,1795953787593,'b2ac7801e04d4a3b990e0430baffcc1d',1,0);
INSERT INTO "params" VALUES('lr','0.1','f7a2a34188ea4aa9915f5dfe6f3e1a87');
INSERT INTO "params" VALUES('opt/name','sgd','f7a2a34188ea4aa9915f5dfe6f3e1a87');
INSERT INTO "params" VALUES('lr','0.2','b2ac7801e04d4a3b990e0430baffcc1d');
INSERT INTO "runs" VALUES('f7a2a34188ea4aa9915f5dfe6f3e1a87','r','UNKNOWN','','','root','FINISHED',1795953786630,1795953787761,'','active','/m/mlruns/1/f7a2a34188ea4aa9915f5dfe6f3e1a87/artifacts',1,NULL);
INSERT INTO "runs" VALUES('b2ac7801e04d4a3b990e0430baffcc1d','child','UNKNOWN','','','root','FINISHED',1795953787533,1795953787699,'','active','/m/mlruns/1/b2ac7801e04d4a3b990e0430baffcc1d/artifacts',1,NULL);
INSERT INTO "tags" VALUES('mlflow.user','root','f7a2a34188ea4aa9915f5dfe6f3e1a87');
INSERT INTO "tags" VALUES('mlflow.source.name','/work/wt/formats/tests/loggers/make_files.py','f7a2a34188ea4aa9915f5dfe6f3e1a87');
INSERT INTO "tags" VALUES('mlflow.source.type','LOCAL','f7a2a34188ea4aa9915f5dfe6f3e1a87');
INSERT INTO "tags" VALUES('mlflow.source.git.commit','c539fd864bdfa6200fa1d287e1113aa29ded2ca0','f7a2a34188ea4aa9915f5dfe6f3e1a87');
INSERT INTO "tags" VALUES('mlflow.runName','r','f7a2a34188ea4aa9915f5dfe6f3e1a87');
INSERT INTO "tags" VALUES('mlflow.user','root','b2ac7801e04d4a3b990e0430baffcc1d');
INSERT INTO "tags" VALUES('mlflow.source.name','/work/wt/formats/tests/loggers/make_files.py','b2ac7801e04d4a3b990e0430baffcc1d');
INSERT INTO "tags" VALUES('mlflow.source.type','LOCAL','b2ac7801e04d4a3b990e0430baffcc1d');
INSERT INTO "tags" VALUES('mlflow.source.git.commit','c539fd864bdfa6200fa1d287e1113aa29ded2ca0','b2ac7801e04d4a3b990e0430baffcc1d');
INSERT INTO "tags" VALUES('mlflow.parentRunId','f7a2a34188ea4aa9915f5dfe6f3e1a87','b2ac7801e04d4a3b990e0430baffcc1d');
INSERT INTO "tags" VALUES('mlflow.runName','child','b2ac7801e04d4a3b990e0430baffcc1d');
