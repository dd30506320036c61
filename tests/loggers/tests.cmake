# Readers of the files of other tools' loggers.
orch_test(loggers "quick" orch_loggers orch_base)
foreach(reader csv_log json_log text_log wandb_log trackio_db)
  orch_fuzz(${reader} orch_loggers)
endforeach()
