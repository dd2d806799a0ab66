"""Google Gemini: `streamGenerateContent`, with an API key or through Vertex."""
