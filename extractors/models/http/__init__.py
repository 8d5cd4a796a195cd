"""A model behind HTTP: TGI, vLLM, SGLang, llama.cpp and servers that speak the OpenAI protocol.

May import the modules of `extractors.models` itself.
"""
