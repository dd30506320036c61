CREATE TABLE metrics (
                        id INTEGER PRIMARY KEY AUTOINCREMENT,
                        timestamp TEXT NOT NULL,
                        run_name TEXT NOT NULL,
                        step INTEGER NOT NULL,
                        metrics TEXT NOT NULL
                    );
INSERT INTO "metrics" VALUES(1,'2026-11-29T12:01:03.249678','r',0,'{"loss": 1.0, "train/acc": 0.0, "nested": {"a": 0}, "odd": NaN}');
INSERT INTO "metrics" VALUES(2,'2026-11-29T12:01:03.249678','r',1,'{"loss": 0.5, "train/acc": 0.125, "nested": {"a": 1}, "odd": NaN}');
INSERT INTO "metrics" VALUES(3,'2026-11-29T12:01:03.249678','r',2,'{"loss": 0.3333333333333333, "train/acc": 0.25, "nested": {"a": 2}, "odd": NaN}');
INSERT INTO "metrics" VALUES(4,'2026-11-29T12:01:03.249678','r',3,'{"loss": 0.25, "train/acc": 0.375, "nested": {"a": 3}, "odd": NaN}');
INSERT INTO "metrics" VALUES(5,'2026-11-29T12:01:03.249678','r',4,'{"loss": 0.2, "train/acc": 0.5, "nested": {"a": 4}, "odd": NaN}');
INSERT INTO "metrics" VALUES(6,'2026-11-29T12:01:03.249678','r',5,'{"loss": 0.16666666666666666, "train/acc": 0.625, "nested": {"a": 5}, "odd": NaN}');
INSERT INTO "metrics" VALUES(7,'2026-11-29T12:01:03.249678','r',6,'{"loss": 0.14285714285714285, "train/acc": 0.75, "nested": {"a": 6}, "odd": NaN}');
INSERT INTO "metrics" VALUES(8,'2026-11-29T12:01:03.249678','r',7,'{"loss": 0.125, "train/acc": 0.875, "nested": {"a": 7}, "odd": NaN}');
