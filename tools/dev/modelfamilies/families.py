# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Families of models in transformers, and blocks of timm that none of them has:
for each a small model with random weights, and its inputs.

A configuration is the family's own default, made small by the names of its
fields: SIZES says what each is, in models inside of models too. OF says which
model is meant and what it takes, one line a kind; DIFFERENT has the fields that
do not follow from a name. Sizes are the least at which nothing of a model falls
away: two layers, several heads, groups of keys.
"""

import importlib
import importlib.util

import torch

from . import built

VOCABULARY, LABELS = 99, 5
SIZES = {
    32: "hidden_size d_model n_embd dim emb_dim d_inner word_embed_proj_dim"
        " intermediate_size ffn_dim d_ff encoder_ffn_dim decoder_ffn_dim"
        " ffn_hidden_size hidden_dim moe_intermediate_size"
        " shared_expert_intermediate_size intermediate_size_mlp"
        " shared_intermediate_size mlp_dim attention_hidden_size kv_dim"
        " pooler_hidden_size image_size projection_dim lru_width mamba_d_ssm"
        " decoder_hidden_size decoder_intermediate_size embedding_dim"
        " feed_forward_size image_text_hidden_size entity_emb_size"
        " mm_hidden_size output_hidden_size",
    16: "embedding_size embed_dim input_embedding_size output_embedding_size"
        " kv_lora_rank q_lora_rank intra_bottleneck_size true_hidden_size"
        " fusion_hidden_size max_relative_positions conv_channels"
        " auxiliary_channels aspp_out_channels adapter_rank global_block_size"
        " pooler_output_size classifier_proj_size"
        " num_mel_bins input_feat_per_channel kv_channels",
    8: "head_dim d_kv d_head qk_nope_head_dim v_head_dim"
       " linear_key_head_dim linear_value_head_dim attention_head_size"
       " patch_size mamba_d_head mamba_chunk_size sliding_window"
       " attention_chunk_size local_attention attention_window_size"
       " position_buckets num_frames window_size num_conv_pos_embeddings"
       " block_size mamba_d_state num_latents d_latents"
       " num_codevectors_per_group codevector_dim proj_codevector_dim"
       " local_radius mamba_headdim encoder_stride",
    4: "num_attention_heads n_head num_heads n_heads encoder_attention_heads"
       " decoder_attention_heads attention_heads num_local_experts num_experts"
       " n_routed_experts moe_num_experts state_size qk_rope_head_dim rotary_dim"
       " linear_num_value_heads num_encoder_attention_heads chunk_size"
       " num_decoder_attention_heads decoder_num_attention_heads"
       " num_self_attention_heads num_cross_attention_heads num_filters"
       " mamba_n_heads mamba_dt_rank time_step_rank",
    2: "num_hidden_layers n_layer num_layers n_layers encoder_layers"
       " decoder_layers num_encoder_layers num_decoder_layers"
       " num_key_value_heads num_kv_heads multi_query_group_num"
       " num_experts_per_tok moe_top_k linear_num_key_heads"
       " decoder_num_hidden_layers num_blocks num_self_attends_per_block"
       " num_conv_pos_embedding_groups num_groups",
    64: "max_position_embeddings n_positions max_seq_len n_ctx context_length"
        " max_source_positions max_target_positions seq_length"
        " max_encoder_position_embeddings max_decoder_position_embeddings",
    1: "n_group topk_group n_shared_experts first_k_dense_replace",
    VOCABULARY: "vocab_size src_vocab_size tgt_vocab_size entity_vocab_size"
                " decoder_vocab_size",
    0: "pad_token_id bos_token_id layerdrop encoder_layerdrop"
       " decoder_layerdrop drop_path_rate mask_time_prob mask_feature_prob",
}
SMALL = {name: size for size, names in SIZES.items() for name in names.split()}

# What a family's model is: the table of transformers, what it takes, families.
OF = {
    "causal": ("CAUSAL_LM", "llama mistral qwen2 qwen3 gemma gemma2 gemma3_text"
               " phi phi3 gpt2 gptj gpt_neo gpt_neox gpt_bigcode opt bloom"
               " falcon mpt olmo olmo2 cohere cohere2 stablelm starcoder2"
               " codegen xglm biogpt persimmon granite nemotron glm glm4"
               " helium diffllama smollm3 ernie4_5 mixtral qwen2_moe qwen3_moe"
               " olmoe granitemoe deepseek_v2 deepseek_v3 dbrx jetmoe phimoe"
               " gpt_oss llama4_text qwen3_next mamba mamba2 falcon_mamba jamba"
               " bamba zamba2 falcon_h1 recurrent_gemma rwkv lfm2 ctrl"
               " openai-gpt"),
    "masked": ("MASKED_LM", "bert roberta albert distilbert electra deberta"
               " deberta-v2 mobilebert modernbert big_bird fnet convbert xlm"
               " longformer funnel mpnet nystromformer squeezebert roformer"
               " rembert ibert megatron-bert layoutlm esm yoso reformer luke"),
    "sequence": ("SEQ_TO_SEQ_CAUSAL_LM", "t5 bart mt5 umt5 blenderbot pegasus"
                 " mbart m2m_100 marian led longt5 prophetnet fsmt"
                 " switch_transformers nllb-moe plbart bigbird_pegasus"),
    "tokens": ("TOKEN_CLASSIFICATION", "xlnet canine"),
    "image": ("IMAGE_CLASSIFICATION", "vit beit deit swin swinv2 convnext"
              " convnextv2 resnet regnet mobilenet_v1 mobilenet_v2 mobilevit"
              " mobilevitv2 dinov2 poolformer pvt pvt_v2 levit cvt efficientnet"
              " focalnet vit_msn bit hiera ijepa swiftformer"),
    "pixels": ("SEMANTIC_SEGMENTATION", "segformer dpt upernet"),
    "depth": ("DEPTH_ESTIMATION", "glpn"),
    "picture": ("", "vit_mae yolos dinov3_vit swin2sr imagegpt mgp-str"),
    "video": ("VIDEO_CLASSIFICATION", "timesformer videomae vivit"),
    "sound": ("", "wav2vec2 hubert wavlm unispeech sew sew-d data2vec-audio"
              " encodec"),
    "spectrum": ("AUDIO_CLASSIFICATION", "audio-spectrogram-transformer"),
    "speech": ("SPEECH_SEQ_2_SEQ", "whisper speech_to_text"),
    "both": ("", "clip siglip vilt owlvit"),
    "caption": ("CAUSAL_LM", "git blip"),
    "series": ("TIME_SERIES_PREDICTION", "patchtst patchtsmixer"),
    "decision": ("", "decision_transformer"),
}

SPEECH = dict(conv_dim=(8, 8, 8), conv_kernel=(8, 3, 3), conv_stride=(4, 2, 2),
              num_feat_extract_layers=3, apply_spec_augment=False)
STAGES = dict(hidden_sizes=[8, 8, 16, 16], depths=[1, 1, 1, 1])
WINDOWS = dict(embed_dim=16, depths=[2, 2], num_heads=[2, 4], window_size=4,
               patch_size=2)
STATES = dict(num_heads=8, head_dim=8, n_groups=2)
DEEPSEEK = dict(num_key_value_heads=4, num_experts_per_tok=2)
STARTS = dict(decoder_start_token_id=0)
PAIRS = dict(relative_attention=True, pos_att_type=["c2p", "p2c"])

DIFFERENT = {
    "albert": dict(intermediate_size=32),
    "audio-spectrogram-transformer": dict(max_length=32, patch_size=8,
                                          frequency_stride=8, time_stride=8),
    "bamba": dict(attn_layer_indices=[1], mamba_n_heads=8, mamba_n_groups=1),
    "beit": dict(use_relative_position_bias=True),
    "big_bird": dict(attention_type="original_full"),
    "bigbird_pegasus": dict(attention_type="original_full"),
    "bit": dict(embedding_size=8, hidden_sizes=[8, 16], depths=[1, 1]),
    "canine": dict(downsampling_rate=4, local_transformer_stride=8,
                   num_hash_functions=4, num_hash_buckets=64),
    "convbert": dict(intermediate_size=40, embedding_size=16),
    "convnext": STAGES, "convnextv2": STAGES,
    "ctrl": dict(dff=32),
    "cvt": dict(embed_dim=[8, 8, 16], depth=[1, 2, 3], num_heads=[1, 1, 2]),
    "data2vec-audio": dict(conv_dim=(8, 8, 8), conv_kernel=(8, 3, 3),
                           conv_stride=(4, 2, 2), conv_pos_kernel_size=5,
                           apply_spec_augment=False),
    "dbrx": dict(attn_config=dict(kv_n_heads=2, rope_theta=1e4,
                                  clip_qkv=8.0),
                 ffn_config=dict(ffn_hidden_size=32, moe_num_experts=4,
                                 moe_top_k=2)),
    "deepseek_v2": DEEPSEEK, "deepseek_v3": DEEPSEEK,
    "deberta": PAIRS, "deberta-v2": PAIRS,
    "decision_transformer": dict(hidden_size=32, max_ep_len=64),
    "dpt": dict(num_hidden_layers=4, patch_size=16, is_hybrid=False,
                backbone_out_indices=[0, 1, 2, 3],
                neck_hidden_sizes=[8, 8, 8, 8]),
    "efficientnet": dict(
        hidden_dim=320, kernel_sizes=[3, 5], in_channels=[8, 8],
        out_channels=[8, 16], depthwise_padding=[], strides=[1, 2],
        num_block_repeats=[1, 1], expand_ratios=[1, 6], width_coefficient=0.25,
        depth_coefficient=1.0),
    "esm": dict(vocab_size=VOCABULARY, pad_token_id=0, mask_token_id=1),
    "encodec": dict(num_filters=4, hidden_size=16, codebook_size=32,
                    codebook_dim=16, num_lstm_layers=1),
    "falcon_h1": dict(mamba_n_heads=4, mamba_d_head=8),
    "focalnet": dict(embed_dim=8, depths=[1, 1], hidden_sizes=[8, 16],
                     focal_levels=[2, 2], focal_windows=[3, 3]),
    "funnel": dict(block_sizes=[1, 1], block_repeats=[1, 1]),
    "gemma3_text": dict(layer_types=["sliding_attention", "full_attention"]),
    "git": dict(vision_config=dict(patch_size=16)),
    "glpn": dict(STAGES, num_attention_heads=[1, 2, 2, 2],
                 decoder_hidden_size=16),
    "gpt_neo": dict(attention_types=[[["global", "local"], 1]]),
    "gpt_oss": dict(layer_types=["sliding_attention", "full_attention"]),
    "hiera": dict(embed_dim=8, depths=[1, 1], num_heads=[1, 2],
                  masked_unit_attention=[True, False], num_query_pool=1,
                  patch_size=[7, 7], patch_stride=[4, 4], patch_padding=[3, 3],
                  masked_unit_size=[4, 4], query_stride=[2, 2],
                  image_size=[32, 32]),
    "imagegpt": dict(n_positions=64, vocab_size=VOCABULARY),
    "jamba": dict(attn_layer_period=2, attn_layer_offset=1,
                  expert_layer_period=2, expert_layer_offset=1,
                  use_mamba_kernels=False),
    "nemotron": dict(head_dim=8, num_key_value_heads=2),
    "layoutlm": dict(max_2d_position_embeddings=128),
    "levit": dict(hidden_sizes=[16, 16, 32], num_attention_heads=[2, 2, 4],
                  depths=[1, 1, 1], key_dim=[8, 8, 8], patch_size=16,
                  image_size=64),
    "lfm2": dict(layer_types=["conv", "full_attention"],
                 block_multiple_of=8),
    "llama4_text": dict(layer_types=["chunked_attention", "full_attention"],
                        moe_layers=[1], no_rope_layers=[1, 0]),
    "marian": STARTS,
    "led": dict(max_encoder_position_embeddings=64, attention_window=[4, 4]),
    "longformer": dict(attention_window=[4, 4]),
    "mamba2": dict(STATES, hidden_size=32), "mgp-str": dict(
        image_size=[16, 32], patch_size=4, max_token_length=6, num_bpe_labels=50,
        num_wordpiece_labels=50),
    "mobilebert": dict(num_feedforward_networks=2),
    "mobilenet_v1": dict(depth_multiplier=0.25, min_depth=8),
    "mobilenet_v2": dict(depth_multiplier=0.25, min_depth=8),
    "mobilevit": dict(hidden_sizes=[16, 20, 24], patch_size=2,
                      neck_hidden_sizes=[8, 8, 12, 12, 16, 16, 32]),
    "mobilevitv2": dict(width_multiplier=0.25, n_attn_blocks=[1, 1, 1],
                        patch_size=2, image_size=64),
    "qwen3_next": dict(layer_types=["linear_attention", "full_attention"]),
    "patchtst": dict(context_length=32, patch_length=4, patch_stride=4,
                     num_input_channels=2, prediction_length=4),
    "patchtsmixer": dict(context_length=32, patch_length=4, patch_stride=4,
                         num_input_channels=2, prediction_length=4),
    "poolformer": STAGES,
    "pvt": dict(STAGES, num_attention_heads=[1, 2, 2, 2]),
    "pvt_v2": dict(STAGES, num_attention_heads=[1, 2, 2, 2]),
    "recurrent_gemma": dict(num_key_value_heads=1,
                            block_types=["recurrent", "attention"]),
    "reformer": dict(attn_layers=["local", "lsh"], axial_pos_shape=[4, 4],
                     axial_pos_embds_dim=[16, 16], local_attn_chunk_length=4,
                     lsh_attn_chunk_length=4, num_buckets=2, num_hashes=1,
                     is_decoder=False),
    "regnet": dict(STAGES, embedding_size=8, groups_width=4),
    "resnet": dict(STAGES, embedding_size=8),
    "roformer": dict(embedding_size=16),
    "segformer": dict(STAGES, num_attention_heads=[1, 2, 2, 2],
                      decoder_hidden_size=16),
    "sew": SPEECH, "sew-d": dict(SPEECH, **PAIRS), "hubert": SPEECH,
    "squeezebert": dict(embedding_size=32),
    "speech_to_text": dict(num_conv_layers=2, conv_channels=16),
    "swiftformer": dict(depths=[1, 1, 1, 1], embed_dims=[8, 8, 16, 16]),
    "swin": WINDOWS, "swinv2": WINDOWS,
    "swin2sr": dict(embed_dim=16, depths=[2], num_heads=[2], window_size=4,
                    patch_size=1, image_size=8),
    "t5": STARTS, "longt5": STARTS,
    "switch_transformers": dict(STARTS, num_sparse_encoder_layers=1,
                                num_sparse_decoder_layers=1),
    "unispeech": SPEECH,
    "upernet": dict(backbone_config=dict(model_type="convnext", **STAGES,
                    out_features=["stage1", "stage2", "stage3", "stage4"]),
                    hidden_size=16, pool_scales=[1, 2]),
    "videomae": dict(patch_size=16, num_frames=4),
    "vit_mae": dict(mask_ratio=0.5),
    "vivit": dict(tubelet_size=[2, 16, 16], num_frames=4),
    "wav2vec2": SPEECH, "wavlm": SPEECH,
    "whisper": dict(STARTS, max_source_positions=16),
    "yolos": dict(image_size=[32, 32], num_detection_tokens=4),
    "zamba2": dict(layers_block_type=["linear_attention", "hybrid"],
                   mamba_ngroups=1, n_mamba_heads=8, mamba_headdim=8,
                   attention_hidden_size=64, attention_head_dim=16,
                   hybrid_layer_ids=[1]),
}

# Classes that no table of transformers names, or another than the first one.
CLASSES = {
    "vit_mae": "ViTMAEForPreTraining", "yolos": "YolosModel",
    "layoutlm": "LayoutLMForMaskedLM", "blip": "BlipForConditionalGeneration",
    "imagegpt": "ImageGPTForCausalImageModeling",
    "whisper": "WhisperForConditionalGeneration",
}

# Of timm, with the side of the picture.
TIMM = {
    "botnet26t_256": 64, "cait_xxs24_224": 64, "coatnet_nano_rw_224": 64,
    "ese_vovnet19b_dw": 64, "eva02_tiny_patch14_224": 56, "gcvit_xxtiny": 64,
    "ghostnet_050": 64, "hiera_tiny_224": 64, "lambda_resnet26t": 64,
    "mixnet_s": 64, "mvitv2_tiny": 64, "res2net50_26w_4s": 64,
    "resnest14d": 64, "skresnet18": 64, "swinv2_cr_tiny_224": 64,
    "xcit_nano_12_p16_224": 64,
}


def _fields(config_class, own):
    """The default's fields, small."""
    config, fields = config_class(), {}
    for name, value in config.to_dict().items():
        size = SMALL.get(name)
        if name in getattr(config_class, "sub_configs", {}):
            inner = getattr(config, name, None)
            if inner is not None:
                fields[name] = _fields(type(inner), own.get(name, {}))
        elif size is not None and isinstance(value, (int, float)) and \
                not isinstance(value, bool) and (value > size or "id" in name):
            fields[name] = size
    fields.update({name: value for name, value in own.items()
                   if name not in getattr(config_class, "sub_configs", {})
                   or name == "backbone_config"})
    return fields


def _small_config(config_class, own):
    fields = {"num_labels": LABELS, **_fields(config_class, own)}
    # A default list of layers is as long as the default's layers.
    try:
        return config_class(**fields)
    except Exception:
        layers = fields.get("num_hidden_layers", 2)
        default = config_class()
        for name in ("layer_types", "mlp_layer_types"):
            value = getattr(default, name, None)
            if isinstance(value, list) and name not in own:
                fields[name] = (value * layers)[:layers]
        return config_class(**fields)


def _labels(*sizes):
    return torch.randint(3, VOCABULARY, sizes)


def _inputs(kind, name, config, batch, length):
    """Named inputs of a model for `batch` examples of `length` tokens."""
    tokens = lambda: _labels(batch, length)
    side = getattr(config, "image_size", 32)
    sides = tuple(side) if isinstance(side, (list, tuple)) else (side, side)
    picture = lambda: torch.randn(
        batch, getattr(config, "num_channels", 3), *sides)
    if kind in ("causal", "masked", "sequence"):
        return {"input_ids": tokens(), "labels": tokens()}
    if kind == "tokens":
        return {"input_ids": tokens(), "labels": tokens() % LABELS}
    if kind == "image":
        return {"pixel_values": picture(), "labels": torch.arange(batch) % LABELS}
    if kind == "pixels":
        return {"pixel_values": picture(),
                "labels": torch.randint(0, LABELS, (batch, *sides))}
    if kind in ("depth", "picture"):
        if name == "imagegpt":
            return {"input_ids": tokens() % 64, "labels": tokens() % 64}
        return {"pixel_values": picture()}
    if kind == "video":
        return {"pixel_values": torch.randn(
            batch, config.num_frames, config.num_channels, *sides),
            "labels": torch.arange(batch) % LABELS}
    if kind == "sound":
        sound = torch.randn(batch, 100 * length)
        if name == "encodec":
            return {"input_values": sound[:, None]}
        return {"input_values": sound}
    if kind == "spectrum":
        return {"input_values": torch.randn(batch, config.max_length,
                                            config.num_mel_bins),
                "labels": torch.arange(batch) % LABELS}
    if kind == "speech":
        bins = getattr(config, "num_mel_bins", None) or \
            config.input_feat_per_channel
        shape = (bins, 32) if name == "whisper" else (32, bins)
        return {"input_features": torch.randn(batch, *shape),
                "labels": tokens()}
    if kind in ("both", "caption"):
        vision = getattr(config, "vision_config", config)
        side = vision.image_size
        given = {"input_ids": tokens(),
                 "pixel_values": torch.randn(batch, 3, side, side)}
        if kind == "caption":
            given["labels"] = given["input_ids"].clone()
        return given
    if kind == "series":
        return {"past_values": torch.randn(
            batch, config.context_length, config.num_input_channels),
            "future_values": torch.randn(
                batch, config.prediction_length, config.num_input_channels)}
    assert kind == "decision"
    return {"states": torch.randn(batch, length, config.state_dim),
            "actions": torch.randn(batch, length, config.act_dim),
            "rewards": torch.randn(batch, length, 1),
            "returns_to_go": torch.randn(batch, length, 1),
            "timesteps": torch.arange(length).repeat(batch, 1)}


def _class_of(table, name):
    from transformers.models.auto import modeling_auto
    if name in CLASSES:
        return CLASSES[name]
    tables = (["MODEL_FOR_%s_MAPPING_NAMES" % table] if table else []) + \
        ["MODEL_MAPPING_NAMES"]
    for each in tables:
        found = getattr(modeling_auto, each).get(name)
        if found is not None:
            return found if isinstance(found, str) else found[0]
    raise LookupError("transformers has no model of the family '%s'" % name)


class Family:
    """One of `transformers`: `make` gives a model, `inputs` what it takes."""

    def __init__(self, name, kind, table):
        self.name, self._kind, self._table = name, kind, table
        self._config = None

    def make(self):
        library = importlib.import_module("transformers")
        maker = getattr(library, _class_of(self._table, self.name))
        self._config = _small_config(maker.config_class,
                                     DIFFERENT.get(self.name, {}))
        return maker(self._config)

    def inputs(self, batch=2, length=12):
        """After `make`."""
        if self.name == "reformer":
            length = 16  # what its axial positions make
        return _inputs(self._kind, self.name, self._config, batch, length)


class TimmFamily:
    def __init__(self, name, side):
        self.name, self._own, self._side = "timm:" + name, name, side

    def make(self):
        library = importlib.import_module("timm")
        try:
            return library.create_model(self._own, num_classes=5,
                                        img_size=self._side)
        except TypeError:  # it takes pictures of any size
            return library.create_model(self._own, num_classes=5)

    def inputs(self, batch=2, length=12):
        return {"x": torch.randn(batch, 3, self._side, self._side)}


def all_families():
    """By name, and the libraries that are not here."""
    families, missing = built.families(), []
    if importlib.util.find_spec("transformers"):
        for kind, (table, names) in OF.items():
            for name in names.split():
                families[name] = Family(name, kind, table)
    else:
        missing.append("transformers")
    if importlib.util.find_spec("timm"):
        for name, side in TIMM.items():
            families["timm:" + name] = TimmFamily(name, side)
    else:
        missing.append("timm")
    return families, missing
