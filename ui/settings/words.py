"""What the settings on the page and some of their choices are called; their own names are for propcite.toml."""

LABELS = {
    "generator": "Writer of the answers",
    "generator_model": "Language model",
    "llm_url": "Address of the language model's server",
    "llm_key": "Key of that server",
    "temperature": "Variety of wording (temperature)",
    "max_tokens": "Longest answer, in tokens",
    "llm_timeout": "Longest wait for the server, in seconds",
    "prompt": "Instructions for answers",
    "follow_up_prompt": "Instructions for follow-up questions",
    "seed": "Random seed",
    "stop": "Texts that end an answer",
    "top_p": "Share of likely words (top p)",
    "frequency_penalty": "Penalty for frequent words",
    "presence_penalty": "Penalty for words already used",
    "repetition_penalty": "Penalty for repetition",
    "extra_body": "Further fields of each request",
    "llm_parallel": "Requests at once",
    "vllm_context": "vLLM: longest prompt and answer, in tokens",
    "vllm_dtype": "vLLM: precision of numbers",
    "vllm_gpu_share": "vLLM: share of GPU memory",
    "vllm_tensor_parallel": "vLLM: GPUs that share the model",
    "vllm_prefix_caching": "vLLM: read shared beginnings once",
    "vllm_eager": "vLLM: start sooner, answer slower",
    "vllm_parallel": "vLLM: questions at once",
    "judge": "What checks statements",
    "judge_model": "Model that checks",
    "supported_from": "How sure “supported” must be",
    "min_score": "Similarity that is enough without a check",
    "judge_checks": "Check plain words too",
    "judge_labels": "Order of the model's verdicts",
    "encoder": "Model that searches",
    "device": "Processor or graphics card",
    "precision": "Precision of the models' numbers",
    "batch_size": "Texts read at once",
    "num_passages": "Passages for each answer",
    "most_citations": "Most markers at a sentence",
    "min_margin": "Lead over the next passage",
    "search_way": "How passages are ranked",
    "alignment": "How words are compared",
    "asking_share": "Share of the question that searches",
    "splitter": "What splits sentences into statements",
    "splitter_model": "Model that splits",
    "question_model": "Model that reads questions",
    "method": "How sources are looked for",
}

CHOICES = {
    "extractive": "in the words of the sources, without a language model",
    "local": "a small language model of this machine",
    "openai": "a language model on a server, at the address below",
    "reader": "PropCite's own network",
    "embedded": "similar words alone",
    "none": "no check",
    "learned": "PropCite's own network",
    "rules": "rules of English",
    "both": "by meaning and by exact words",
    "vectors": "by meaning alone",
    "words": "by exact words alone",
    "propositions": "PropCite's own way",
}


def choice_line(name: str) -> str:
    """Return a choice with what it means.

    >>> choice_line("words"), choice_line("hhem")
    ('words: by exact words alone', 'hhem')
    """
    return f"{name}: {CHOICES[name]}" if name in CHOICES else name
