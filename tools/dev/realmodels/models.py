# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Small models of transformers and timm, by name: functions that give a model,
its inputs by name ("x" goes first, without one), and options of its call.

A family of equal models stands here once. Sizes are the least at which nothing
of a model falls away (two layers, several heads, groups of keys).
"""

import importlib
import importlib.util

import torch

TEXT = dict(vocab_size=99, hidden_size=32, num_hidden_layers=2,
            num_attention_heads=4, intermediate_size=32,
            max_position_embeddings=64, pad_token_id=0)
IMAGE = dict(hidden_size=32, num_hidden_layers=2, num_attention_heads=4,
             intermediate_size=32, image_size=32, patch_size=8)
STAGES = dict(hidden_sizes=[8, 8, 16, 16], depths=[1, 1, 1, 1])
SPEECH = dict(hidden_size=32, num_hidden_layers=2, num_attention_heads=4,
              intermediate_size=32, conv_dim=(8, 8, 8), conv_kernel=(8, 3, 3),
              conv_stride=(4, 2, 2), num_feat_extract_layers=3,
              num_conv_pos_embeddings=8, num_conv_pos_embedding_groups=2,
              mask_time_prob=0.0, layerdrop=0.0, apply_spec_augment=False)
BOTH = dict(d_model=32, encoder_layers=1, decoder_layers=1,
            encoder_attention_heads=4, decoder_attention_heads=4,
            encoder_ffn_dim=32, decoder_ffn_dim=32)
FEW_KEYS = dict(num_key_value_heads=2, head_dim=8)
EXPERTS = dict(num_experts=4, num_experts_per_tok=2, moe_intermediate_size=16)
STATES = dict(num_heads=8, head_dim=8, state_size=4, n_groups=2, chunk_size=4)

# Language models: class, configuration (without "Config"), what differs.
LANGUAGE = {
    "llama": ("LlamaForCausalLM", "Llama", FEW_KEYS),
    "mistral": ("MistralForCausalLM", "Mistral",
                dict(FEW_KEYS, sliding_window=4)),
    "qwen3": ("Qwen3ForCausalLM", "Qwen3", FEW_KEYS),
    "gemma2": ("Gemma2ForCausalLM", "Gemma2", FEW_KEYS),
    "gemma3": ("Gemma3ForCausalLM", "Gemma3Text", FEW_KEYS),
    "phi3": ("Phi3ForCausalLM", "Phi3", dict(num_key_value_heads=2)),
    "gpt2": ("GPT2LMHeadModel", "GPT2", {}),
    "gptj": ("GPTJForCausalLM", "GPTJ", dict(rotary_dim=4)),
    "gpt_neox": ("GPTNeoXForCausalLM", "GPTNeoX", {}),
    "opt": ("OPTForCausalLM", "OPT", dict(ffn_dim=32, word_embed_proj_dim=32)),
    "bloom": ("BloomForCausalLM", "Bloom", {}),
    "falcon": ("FalconForCausalLM", "Falcon", {}),
    "mpt": ("MptForCausalLM", "Mpt", dict(d_model=32, n_layers=2, n_heads=4)),
    "olmo2": ("Olmo2ForCausalLM", "Olmo2", dict(num_key_value_heads=2)),
    "cohere": ("CohereForCausalLM", "Cohere", dict(num_key_value_heads=2)),
    "mixtral": ("MixtralForCausalLM", "Mixtral", dict(
        num_key_value_heads=2, num_local_experts=4, num_experts_per_tok=2)),
    "qwen3_moe": ("Qwen3MoeForCausalLM", "Qwen3Moe", dict(FEW_KEYS, **EXPERTS)),
    "qwen3_next": ("Qwen3NextForCausalLM", "Qwen3Next", dict(
        FEW_KEYS, **EXPERTS, shared_expert_intermediate_size=16,
        linear_num_value_heads=4, linear_num_key_heads=2,
        linear_key_head_dim=8, linear_value_head_dim=8)),
    "deepseek_v3": ("DeepseekV3ForCausalLM", "DeepseekV3", dict(
        num_key_value_heads=4, n_routed_experts=4, num_experts_per_tok=2,
        n_group=1, topk_group=1, moe_intermediate_size=16, q_lora_rank=16,
        kv_lora_rank=16, qk_rope_head_dim=4, qk_nope_head_dim=8, v_head_dim=8,
        first_k_dense_replace=1)),
    "llama4": ("Llama4ForCausalLM", "Llama4Text", dict(
        FEW_KEYS, num_local_experts=2, intermediate_size_mlp=32,
        attention_chunk_size=8)),
    "mamba": ("MambaForCausalLM", "Mamba", dict(state_size=4)),
    "mamba2": ("Mamba2ForCausalLM", "Mamba2", STATES),
    "rwkv": ("RwkvForCausalLM", "Rwkv",
             dict(attention_hidden_size=32, context_length=64)),
    "recurrent_gemma": ("RecurrentGemmaForCausalLM", "RecurrentGemma", dict(
        num_key_value_heads=1, lru_width=32, attention_window_size=8)),
    "bert": ("BertForMaskedLM", "Bert", {}),
    "albert": ("AlbertForMaskedLM", "Albert", dict(embedding_size=16)),
    "deberta": ("DebertaForMaskedLM", "Deberta", dict(
        relative_attention=True, pos_att_type=["c2p", "p2c"],
        max_relative_positions=16)),
    "deberta_v2": ("DebertaV2ForMaskedLM", "DebertaV2", dict(
        relative_attention=True, pos_att_type=["c2p", "p2c"],
        max_relative_positions=16, position_buckets=8)),
    "mobilebert": ("MobileBertForMaskedLM", "MobileBert", dict(
        embedding_size=16, intra_bottleneck_size=16, true_hidden_size=16)),
    "modernbert": ("ModernBertForMaskedLM", "ModernBert", {}),
    "bigbird": ("BigBirdForMaskedLM", "BigBird",
                dict(attention_type="original_full")),
    "fnet": ("FNetForMaskedLM", "FNet", {}),
    "convbert": ("ConvBertForMaskedLM", "ConvBert",
                 dict(embedding_size=16, intermediate_size=40)),
    "t5": ("T5ForConditionalGeneration", "T5", dict(
        d_model=32, d_kv=8, d_ff=32, num_layers=2, num_heads=4,
        decoder_start_token_id=0)),
    "bart": ("BartForConditionalGeneration", "Bart", BOTH),
    "blenderbot": ("BlenderbotForConditionalGeneration", "Blenderbot", BOTH),
}

# Models of a picture or a sound: class, configuration, what it takes.
SIGNAL = {
    "vit": ("ViTForImageClassification", "ViT", IMAGE, (3, 32, 32)),
    "beit": ("BeitForImageClassification", "Beit", dict(
        IMAGE, drop_path_rate=0.0, use_relative_position_bias=True),
        (3, 32, 32)),
    "swin": ("SwinForImageClassification", "Swin", dict(
        embed_dim=16, depths=[2, 2], num_heads=[2, 4], window_size=4,
        image_size=32, patch_size=2, drop_path_rate=0.0), (3, 32, 32)),
    "swinv2": ("Swinv2ForImageClassification", "Swinv2", dict(
        embed_dim=16, depths=[2, 2], num_heads=[2, 4], window_size=4,
        image_size=32, patch_size=2, drop_path_rate=0.0), (3, 32, 32)),
    "convnextv2": ("ConvNextV2ForImageClassification", "ConvNextV2", STAGES,
                   (3, 32, 32)),
    "segformer": ("SegformerForSemanticSegmentation", "Segformer", dict(
        STAGES, num_attention_heads=[1, 2, 2, 2], decoder_hidden_size=16,
        drop_path_rate=0.0), (3, 32, 32)),
    "mobilevit": ("MobileViTForImageClassification", "MobileViT", dict(
        hidden_sizes=[16, 20, 24], neck_hidden_sizes=[8, 8, 12, 12, 16, 16, 32],
        image_size=32), (3, 32, 32)),
    "dpt": ("DPTForSemanticSegmentation", "DPT", dict(
        IMAGE, num_hidden_layers=4, patch_size=16, is_hybrid=False,
        backbone_out_indices=[0, 1, 2, 3], neck_hidden_sizes=[8, 8, 8, 8],
        fusion_hidden_size=8), (3, 32, 32)),
    "videomae": ("VideoMAEForVideoClassification", "VideoMAE",
                 dict(IMAGE, patch_size=16, num_frames=4), (4, 3, 32, 32)),
    "wav2vec2": ("Wav2Vec2Model", "Wav2Vec2", SPEECH, (1600,)),
    "wavlm": ("WavLMModel", "WavLM", SPEECH, (1600,)),
}

# Of timm, with the side of the picture: blocks that no model above has.
TIMM = {
    "botnet26t_256": 64, "cait_xxs24_224": 64, "coatnet_nano_rw_224": 64,
    "ese_vovnet19b_dw": 64, "eva02_tiny_patch14_224": 56, "gcvit_xxtiny": 64,
    "ghostnet_050": 64, "hiera_tiny_224": 64, "lambda_resnet26t": 64,
    "mixnet_s": 64, "mvitv2_tiny": 64, "res2net50_26w_4s": 64,
    "resnest14d": 64, "skresnet18": 64, "swinv2_cr_tiny_224": 64,
    "xcit_nano_12_p16_224": 64,
}


def _tokens():
    return torch.randint(3, TEXT["vocab_size"], (2, 12))


def _of_transformers(model, config, given, inputs, **options):
    def make():
        library = importlib.import_module("transformers")
        made = getattr(library, config + "Config")(**given)
        maker = getattr(library, model)
        try:
            made._attn_implementation = "sdpa"
            return maker(made), inputs(), options
        except ValueError:  # it has no such attention
            made._attn_implementation = "eager"
            return maker(made), inputs(), options
    return make


def _of_timm(name, side):
    def make():
        library = importlib.import_module("timm")
        try:
            model = library.create_model(name, num_classes=5, img_size=side)
        except TypeError:  # it takes pictures of any size
            model = library.create_model(name, num_classes=5)
        return model, {"x": torch.randn(2, 3, side, side)}, {}
    return make


def all_models():
    """Builders by name, and the libraries that are not here."""
    models = {}
    for name, (model, config, given) in LANGUAGE.items():
        # Values of earlier tokens are of no use in training.
        options = {} if "Masked" in model else {"use_cache": False}
        models[name] = _of_transformers(
            model, config, {**TEXT, **given},
            lambda: {"input_ids": _tokens(), "labels": _tokens()}, **options)
    for name, (model, config, given, shape) in SIGNAL.items():
        models[name] = _of_transformers(
            model, config, given, lambda shape=shape: {"x": torch.randn(2, *shape)})
    missing = []
    for name, side in TIMM.items():
        models["timm:" + name] = _of_timm(name, side)
    for library, prefix in (("transformers", ""), ("timm", "timm:"),
                            ("torchvision", "timm:")):
        if importlib.util.find_spec(library) is None:
            missing.append(library)
            models = {name: make for name, make in models.items()
                      if name.startswith("timm:") != (prefix == "timm:")}
    return models, missing
