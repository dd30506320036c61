CREATE TABLE "experiments" (
	experiment_id INTEGER NOT NULL, 
	name VARCHAR(256) NOT NULL, 
	artifact_location VARCHAR(256), 
	lifecycle_stage VARCHAR(32), 
	creation_time BIGINT, 
	last_update_time BIGINT, 
	workspace VARCHAR(63) DEFAULT 'default' NOT NULL, 
	CONSTRAINT experiment_pk PRIMARY KEY (experiment_id), 
	CONSTRAINT experiments_lifecycle_stage CHECK (lifecycle_stage IN ('active', 'deleted')), 
	CONSTRAINT uq_experiments_workspace_name UNIQUE (workspace, name)
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
	CONSTRAINT source_type CHECK (source_type IN ('NOTEBOOK', 'JOB', 'LOCAL', 'UNKNOWN', 'PROJECT')), 
	CONSTRAINT runs_lifecycle_stage CHECK (lifecycle_stage IN ('active', 'deleted')), 
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
	value VARCHAR(8000), 
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
INSERT INTO "experiments" VALUES(0,'Default','/m/mlruns/0','active',1795953807638,1795953807638,'default');
INSERT INTO "experiments" VALUES(1,'e','/m/mlruns/1','active',1795953807677,1795953807677,'default');
INSERT INTO "latest_metrics" VALUES('loss',0.125,1795953808472,7,0,'eb502bff84b14ac196e3450d9d8386ef');
INSERT INTO "latest_metrics" VALUES('train/acc',0.875,1795953808509,7,0,'eb502bff84b14ac196e3450d9d8386ef');
INSERT INTO "latest_metrics" VALUES('odd',0.0,1795953808545,0,1,'eb502bff84b14ac196e3450d9d8386ef');
INSERT INTO "latest_metrics" VALUES('far',1.79769313486231562234e+308,1795953808581,0,0,'eb502bff84b14ac196e3450d9d8386ef');
INSERT INTO "latest_metrics" VALUES('loss',3.0,1795953808665,1,0,'efad175935da4c8cb811961fbc66df2e');
INSERT INTO "metrics" VALUES('loss',1.0,1795953807890,'eb502bff84b14ac196e3450d9d8386ef',0,0);
INSERT INTO "metrics" VALUES('train/acc',0.0,1795953807949,'eb502bff84b14ac196e3450d9d8386ef',0,0);
INSERT INTO "metrics" VALUES('loss',0.5,1795953807977,'eb502bff84b14ac196e3450d9d8386ef',1,0);
INSERT INTO "metrics" VALUES('train/acc',0.125,1795953808031,'eb502bff84b14ac196e3450d9d8386ef',1,0);
INSERT INTO "metrics" VALUES('loss',3.33333333333333314829e-01,1795953808071,'eb502bff84b14ac196e3450d9d8386ef',2,0);
INSERT INTO "metrics" VALUES('train/acc',0.25,1795953808109,'eb502bff84b14ac196e3450d9d8386ef',2,0);
INSERT INTO "metrics" VALUES('loss',0.25,1795953808150,'eb502bff84b14ac196e3450d9d8386ef',3,0);
INSERT INTO "metrics" VALUES('train/acc',0.375,1795953808191,'eb502bff84b14ac196e3450d9d8386ef',3,0);
INSERT INTO "metrics" VALUES('loss',0.2,1795953808234,'eb502bff84b14ac196e3450d9d8386ef',4,0);
INSERT INTO "metrics" VALUES('train/acc',0.5,1795953808269,'eb502bff84b14ac196e3450d9d8386ef',4,0);
INSERT INTO "metrics" VALUES('loss',1.66666666666666657414e-01,1795953808309,'eb502bff84b14ac196e3450d9d8386ef',5,0);
INSERT INTO "metrics" VALUES('train/acc',0.625,1795953808345,'eb502bff84b14ac196e3450d9d8386ef',5,0);
INSERT INTO "metrics" VALUES('loss',1.42857142857142849212e-01,1795953808381,'eb502bff84b14ac196e3450d9d8386ef',6,0);
INSERT INTO "metrics" VALUES('train/acc',0.75,1795953808425,'eb502bff84b14ac196e3450d9d8386ef',6,0);
INSERT INTO "metrics" VALUES('loss',0.125,1795953808472,'eb502bff84b14ac196e3450d9d8386ef',7,0);
INSERT INTO "metrics" VALUES('train/acc',0.875,1795953808509,'eb502bff84b14ac196e3450d9d8386ef',7,0);
INSERT INTO "metrics" VALUES('odd',0.0,1795953808545,'eb502bff84b14ac196e3450d9d8386ef',0,1);
INSERT INTO "metrics" VALUES('far',1.79769313486231562234e+308,1795953808581,'eb502bff84b14ac196e3450d9d8386ef',0,0);
INSERT INTO "metrics" VALUES('loss',3.0,1795953808665,'efad175935da4c8cb811961fbc66df2e',1,0);
INSERT INTO "params" VALUES('lr','0.1','eb502bff84b14ac196e3450d9d8386ef');
INSERT INTO "params" VALUES('opt/name','sgd','eb502bff84b14ac196e3450d9d8386ef');
INSERT INTO "params" VALUES('lr','0.2','efad175935da4c8cb811961fbc66df2e');
INSERT INTO "runs" VALUES('eb502bff84b14ac196e3450d9d8386ef','r','UNKNOWN','','','root','FINISHED',1795953807749,1795953808793,'','active','/m/mlruns/1/eb502bff84b14ac196e3450d9d8386ef/artifacts',1,NULL);
INSERT INTO "runs" VALUES('efad175935da4c8cb811961fbc66df2e','child','UNKNOWN','','','root','FINISHED',1795953808618,1795953808741,'','active','/m/mlruns/1/efad175935da4c8cb811961fbc66df2e/artifacts',1,NULL);
INSERT INTO "tags" VALUES('mlflow.user','root','eb502bff84b14ac196e3450d9d8386ef');
INSERT INTO "tags" VALUES('mlflow.source.name','/work/wt/formats/tests/loggers/make_files.py','eb502bff84b14ac196e3450d9d8386ef');
INSERT INTO "tags" VALUES('mlflow.source.type','LOCAL','eb502bff84b14ac196e3450d9d8386ef');
INSERT INTO "tags" VALUES('mlflow.source.git.commit','c539fd864bdfa6200fa1d287e1113aa29ded2ca0','eb502bff84b14ac196e3450d9d8386ef');
INSERT INTO "tags" VALUES('mlflow.source.git.branch','formats','eb502bff84b14ac196e3450d9d8386ef');
INSERT INTO "tags" VALUES('mlflow.runName','r','eb502bff84b14ac196e3450d9d8386ef');
INSERT INTO "tags" VALUES('mlflow.user','root','efad175935da4c8cb811961fbc66df2e');
INSERT INTO "tags" VALUES('mlflow.source.name','/work/wt/formats/tests/loggers/make_files.py','efad175935da4c8cb811961fbc66df2e');
INSERT INTO "tags" VALUES('mlflow.source.type','LOCAL','efad175935da4c8cb811961fbc66df2e');
INSERT INTO "tags" VALUES('mlflow.source.git.commit','c539fd864bdfa6200fa1d287e1113aa29ded2ca0','efad175935da4c8cb811961fbc66df2e');
INSERT INTO "tags" VALUES('mlflow.source.git.branch','formats','efad175935da4c8cb811961fbc66df2e');
INSERT INTO "tags" VALUES('mlflow.parentRunId','eb502bff84b14ac196e3450d9d8386ef','efad175935da4c8cb811961fbc66df2e');
INSERT INTO "tags" VALUES('mlflow.runName','child','efad175935da4c8cb811961fbc66df2e');
