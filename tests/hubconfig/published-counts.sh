# Transformers as people name them: identifiers of Hugging Face's hub and a config.json, with the published number of parameters; 8xH100; AdamW.
# test: quick
. "$(dirname "$0")/../cli/lib.sh"
counted() { # PARAMETERS NAME...
    local count=$1
    shift
    for name in "$@"; do
        ok orch net show "$name" --json
        same "$(json params)" "$count" "parameters of $name"
    done
}
counted 124439808 openai-community/gpt2 gpt2
counted 354823168 openai-community/gpt2-medium
counted 774030080 openai-community/gpt2-large
counted 1557611200 openai-community/gpt2-xl
counted 81912576 distilbert/distilgpt2
counted 109482240 bert-base
# of the hub with the head that predicts masked tokens, as the config.json there says
counted 109514298 google-bert/bert-base-uncased
counted 335174458 google-bert/bert-large-uncased
counted 108340804 google-bert/bert-base-cased
counted 333610308 google-bert/bert-large-cased
counted 66985530 distilbert/distilbert-base-uncased
counted 65812036 distilbert/distilbert-base-cased
counted 124697433 FacebookAI/roberta-base
counted 355412057 FacebookAI/roberta-large
counted 278295186 FacebookAI/xlm-roberta-base
counted 560142482 FacebookAI/xlm-roberta-large
counted 60506624 google-t5/t5-small
counted 222903552 google-t5/t5-base
counted 737668096 google-t5/t5-large
counted 125239296 facebook/opt-125m
counted 1315758080 facebook/opt-1.3b
counted 2651596800 facebook/opt-2.7b
counted 6658473984 facebook/opt-6.7b
counted 12853473280 facebook/opt-13b
counted 1100048384 TinyLlama/TinyLlama-1.1B-Chat-v1.0
counted 6738415616 meta-llama/Llama-2-7b-hf meta-llama/Llama-2-7b-chat-hf
counted 13015864320 meta-llama/Llama-2-13b-hf
counted 68976648192 meta-llama/Llama-2-70b-hf
counted 8030261248 meta-llama/Meta-Llama-3-8B meta-llama/Llama-3.1-8B-Instruct
counted 70553706496 meta-llama/Llama-3.3-70B-Instruct
counted 1235814400 meta-llama/Llama-3.2-1B
counted 3212749824 meta-llama/Llama-3.2-3B-Instruct
counted 7241732096 mistralai/Mistral-7B-v0.1
counted 7248023552 mistralai/Mistral-7B-Instruct-v0.3
counted 494032768 Qwen/Qwen2.5-0.5B
counted 1543714304 Qwen/Qwen2.5-1.5B-Instruct
counted 7615616512 Qwen/Qwen2.5-7B
# mixtures of experts: all parameters, and those of a token (in the reports 12.9, 39, 37, 3.3 and 22 billion; below 2.7, 2.4 without the vocabulary, and 21)
mixture() { # PARAMETERS ACTIVE NAME...
    local active=$2
    counted "$1" "${@:3}"
    same "$(json active_params)" "$active" "active parameters of $3"
}
mixture 46702792704 12879925248 mistralai/Mixtral-8x7B-v0.1 Mixtral-8x7B
mixture 140630071296 39161468928 mistralai/Mixtral-8x22B-v0.1
mixture 671026419200 37552297472 deepseek-ai/DeepSeek-V3 deepseek-ai/DeepSeek-R1
mixture 30532122624 3353032704 Qwen/Qwen3-30B-A3B Qwen3-MoE Qwen/Qwen3-30B-A3B-Instruct-2507
mixture 235093634560 22190763520 Qwen/Qwen3-235B-A22B
counted 86567656 google/vit-base-patch16-224 ViT-B/16 vit_b_16 facebook/deit-base-patch16-224
counted 304326632 google/vit-large-patch16-224 ViT-L/16
counted 5717416 facebook/deit-tiny-patch16-224
counted 22050664 facebook/deit-small-patch16-224
fails 2 orch net show moe:4,512,8
says 'needs experts=N and chosen=N'
fails 2 orch net show moe:4,512,8,8,1024,experts=4,chosen=5
says 'is not LAYERS,WIDTH,HEADS'
fails 2 orch net show nobody-instruct
says "unknown network 'nobody-instruct'"
says " (a model of your own is a file" # in the same hint
fails 2 orch net show nobody/nothing
says 'no such file'
says 'models of Hugging Face have a config.json to download'
# a config.json, by its path or its folder
config() { # NAME TEXT
    mkdir -p "$1"
    printf '%s' "$2" >"$1/config.json"
}
config qwen '{"model_type": "qwen2", "hidden_size": 896, "intermediate_size": 4864, "max_position_embeddings": 32768, "num_attention_heads": 14,
 "num_hidden_layers": 24, "num_key_value_heads": 2, "tie_word_embeddings": true, "vocab_size": 151936}'
counted 494032768 qwen qwen/config.json
ok orch predict --gpu H100 --net qwen --tokens 1024 --precision bf16 --batch 2
has '  optimizer   '
has 'AdamW'
config roberta '{"model_type": "roberta", "hidden_size": 768, "intermediate_size": 3072, "max_position_embeddings": 514, "num_attention_heads": 12,
 "num_hidden_layers": 12, "type_vocab_size": 1, "vocab_size": 50265}'
counted 124645632 roberta
config masked '{"model_type": "roberta", "architectures": ["RobertaForMaskedLM"], "hidden_size": 1024, "intermediate_size": 4096, "max_position_embeddings": 514,
 "num_attention_heads": 16, "num_hidden_layers": 24, "type_vocab_size": 1, "vocab_size": 50265}'
counted 355412057 masked
same "$(json input.1)" 512
fails 2 orch predict --gpu H100 --net masked --tokens 513
says 'has 512 positions for 513 tokens'
config short '{"model_type": "gpt2", "n_embd": 768, "n_head": 12, "n_layer": 12, "n_positions": 512, "vocab_size": 50257}'
counted 124046592 short # of 512 positions
config nemo '{"model_type": "mistral", "hidden_size": 5120, "intermediate_size": 14336, "head_dim": 128, "max_position_embeddings": 1024000,
 "num_attention_heads": 32, "num_hidden_layers": 40, "num_key_value_heads": 8, "tie_word_embeddings": false, "vocab_size": 131072}'
counted 12247782400 nemo
ok orch predict --gpu H100 --net nemo --json
says_input() { same "$(json assumptions.0.value)" "$1" "the input of $2"; }
says_input '1x8192x1, of at most 1024000 tokens' nemo
config vit '{"model_type": "vit", "hidden_size": 768, "image_size": 224, "intermediate_size": 3072, "num_attention_heads": 12, "num_hidden_layers": 12, "patch_size": 16}'
counted 86567656 vit
sed -i 's/224,/[224, 192],/; s/: 16}/: [16, 16]}/' vit/config.json
ok orch net show vit --json
same "$(json input.1)x$(json input.2)" 224x192
config t5 '{"model_type": "t5", "d_ff": 2048, "d_kv": 64, "d_model": 512, "n_positions": 512, "num_heads": 8, "num_layers": 6, "vocab_size": 32128}'
counted 60506624 t5
config qwen3 '{"model_type": "qwen3", "attention_bias": false, "head_dim": 128, "hidden_size": 4096, "intermediate_size": 12288,
 "max_position_embeddings": 40960, "num_attention_heads": 32, "num_hidden_layers": 36, "num_key_value_heads": 8, "tie_word_embeddings": false, "vocab_size": 151936}'
counted 8190735360 qwen3
config mixtral '{"model_type": "mixtral", "hidden_size": 4096, "intermediate_size": 14336, "max_position_embeddings": 32768, "num_attention_heads": 32,
 "num_experts_per_tok": 2, "num_hidden_layers": 32, "num_key_value_heads": 8, "num_local_experts": 8, "tie_word_embeddings": false, "vocab_size": 32000}'
mixture 46702792704 12879925248 mixtral
same "$(json input.1)" 8192
ok orch net show mistralai/Mixtral-8x7B-v0.1 --json
same "$(json input.1)" 8192 # as of its config.json
config qwenmoe '{"model_type": "qwen3_moe", "attention_bias": false, "decoder_sparse_step": 1, "head_dim": 128, "hidden_size": 2048,
 "intermediate_size": 6144, "max_position_embeddings": 40960, "mlp_only_layers": [], "moe_intermediate_size": 768, "num_attention_heads": 32,
 "num_experts": 128, "num_experts_per_tok": 8, "num_hidden_layers": 48, "num_key_value_heads": 4, "tie_word_embeddings": false, "vocab_size": 151936}'
mixture 30532122624 3353032704 qwenmoe
config deepseek '{"model_type": "deepseek_v3", "attention_bias": false, "first_k_dense_replace": 3, "hidden_size": 7168, "intermediate_size": 18432,
 "kv_lora_rank": 512, "max_position_embeddings": 163840, "moe_intermediate_size": 2048, "moe_layer_freq": 1, "n_routed_experts": 256, "n_shared_experts": 1,
 "num_attention_heads": 128, "num_experts_per_tok": 8, "num_hidden_layers": 61, "num_key_value_heads": 128, "num_nextn_predict_layers": 1,
 "q_lora_rank": 1536, "qk_nope_head_dim": 128, "qk_rope_head_dim": 64, "tie_word_embeddings": false, "v_head_dim": 128, "vocab_size": 129280}'
mixture 671026419200 37552297472 deepseek
config qwen2moe '{"model_type": "qwen2_moe", "decoder_sparse_step": 1, "hidden_size": 2048, "intermediate_size": 5632, "max_position_embeddings": 8192,
 "moe_intermediate_size": 1408, "num_attention_heads": 16, "num_experts": 60, "num_experts_per_tok": 4, "num_hidden_layers": 24, "num_key_value_heads": 16,
 "shared_expert_intermediate_size": 5632, "tie_word_embeddings": false, "vocab_size": 151936}' # Qwen1.5-MoE-A2.7B
mixture 14315784192 2689173504 qwen2moe
config lite '{"model_type": "deepseek_v2", "attention_bias": false, "first_k_dense_replace": 1, "hidden_size": 2048, "intermediate_size": 10944,
 "kv_lora_rank": 512, "max_position_embeddings": 163840, "moe_intermediate_size": 1408, "moe_layer_freq": 1, "n_routed_experts": 64, "n_shared_experts": 2,
 "num_attention_heads": 16, "num_experts_per_tok": 6, "num_hidden_layers": 27, "num_key_value_heads": 16, "q_lora_rank": null, "qk_nope_head_dim": 128,
 "qk_rope_head_dim": 64, "tie_word_embeddings": false, "v_head_dim": 128, "vocab_size": 102400}' # DeepSeek-V2-Lite
mixture 15706484224 2661150208 lite
config v2 '{"model_type": "deepseek_v2", "attention_bias": false, "first_k_dense_replace": 1, "hidden_size": 5120, "intermediate_size": 12288,
 "kv_lora_rank": 512, "max_position_embeddings": 163840, "moe_intermediate_size": 1536, "moe_layer_freq": 1, "n_routed_experts": 160, "n_shared_experts": 2,
 "num_attention_heads": 128, "num_experts_per_tok": 6, "num_hidden_layers": 60, "num_key_value_heads": 128, "q_lora_rank": 1536, "qk_nope_head_dim": 128,
 "qk_rope_head_dim": 64, "tie_word_embeddings": false, "v_head_dim": 128, "vocab_size": 102400}' # DeepSeek-V2
mixture 235741434880 21375800320 v2
config sparse '{"model_type": "qwen3_moe", "decoder_sparse_step": 2}'
fails 2 orch net show sparse
says 'decoder_sparse_step 2 is not supported'
# a quantized model is trained with adapters: its bits are those of the base weights
ok orch predict --gpu H100 --net qwen --tokens 1024 --lora-rank 16 --base-bits 4 --json
four=$(json predictions.0.memory_bytes)
qwen=$(sed 's/}$//' qwen/config.json)
for how in '"quant_method": "gptq", "bits": 4' '"quant_method": "bitsandbytes", "load_in_4bit": true' '"config_groups": {"group_0": {"weights": {"num_bits": 4}}}'; do
    config quantized "$qwen, \"quantization_config\": {$how}}"
    ok orch predict --gpu H100 --net quantized --tokens 1024 --lora-rank 16 --json
    same "$(json predictions.0.memory_bytes)" "$four" "memory of $how"
    ok orch predict --gpu H100 --net quantized --tokens 1024
    says 'is quantized to 4 bits, which are not counted: a quantized model is trained with adapters'
done
config quantized "$qwen, \"quantization_config\": {\"quant_method\": \"fp8\"}}"
ok orch predict --gpu H100 --net quantized --tokens 1024 --lora-rank 16
has 'held in 8 bits'
config window "$qwen, \"sliding_window\": 4096}"
ok orch predict --gpu H100 --net window --tokens 4096
says_not sliding_window
ok orch predict --gpu H100 --net window --tokens 4097
says "attention is counted among all 4097 tokens, not in the config's sliding_window of 4096"
# sizes that cannot be are refused with the rule that they break
broken() { # RULE NAME...
    local rule=$1
    shift
    for name in "$@"; do
        fails 2 orch net show "$name"
        says "hint: $rule"
    done
}
broken 'HEADS must divide WIDTH' gpt:12,768,7 llama:32,4096,31 t5:6,512,7 bert:12,770,12 bert:12,770,12,head=64
broken 'LAYERS is from 1 to 512' gpt:100000,768,12
broken 'each token has from 1 to all of the experts' moe:4,512,8,8,1024,experts=128,chosen=200
fails 2 orch net show mlp:
says "did you mean 'mlp:SIZES'?"
# lengths and inputs that the network does not have
for many in 'gpt2 --tokens 4096' 'bert-base --tokens 8192' 'roberta-large --tokens 1024' 'opt-13b --tokens 2049'; do
    fails 2 orch predict --gpu H100 --net $many
    says ' positions for '
done
ok orch predict --gpu H100 --net gpt:12,768,12 --tokens 4096
ok orch predict --gpu H100 --net llama-2-7b --tokens 8192
says "'llama-2-7b' was made for at most 4096 tokens, not 8192"
for other in 'resnet50 --tokens 100' 'bert-base --input 3x224x224' 'gpt2 --input 1x1x1024' 'vit --tokens 9'; do
    fails 2 orch predict --gpu H100 --net $other
    says 'is not one'
done
for set in 'llama-3-8b --dataset imagenet' 'bert-base --dataset cifar10' 'qwen --dataset mnist'; do
    fails 2 orch predict --gpu H100 --net $set
    says 'takes sequences of tokens'
    says '--dataset 10000'
done
# what is not covered is refused, with what to do
config neox '{"model_type": "gpt_neox", "hidden_size": 64}'
fails 2 orch net show neox
says "model_type 'gpt_neox' is not one of bert, "
says 'orch.export_ops'
config biased '{"model_type": "llama", "attention_bias": true}'
fails 2 orch net show biased
says 'attention_bias true is not supported'
config empty '{"model_type": "gpt2"}'
fails 2 orch net show empty
says "'n_layer' is missing"
config broken '{"model_type": '
fails 2 orch net show broken
says 'line 1 is not JSON'
config list '[]'
fails 2 orch net show list
says 'the file is not a JSON object'
mkdir nothing
fails 2 orch net show nothing
# several GPUs, as they are rented
ok orch predict --gpu 8xH100 --net gpt2 --json
same "$(json predictions.0.workers) $(json predictions.0.gpu)" '8 H100-SXM5'
ok orch predict --gpu '2 x V100' --net resnet50 --json
same "$(json predictions.0.workers)" 2
fails 2 orch predict --gpu 8xH100 --net gpt2 --workers 2
says "option '--workers': --gpu already gives the number of devices"
fails 2 orch predict --gpu 8xH1O0 --net gpt2
says 'did you mean'
