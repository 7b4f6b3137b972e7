import type { SchemaExtension } from './schema-extension.ts'

/** The columns that `knowledge_patch` filters by and adds up; it does without them through metadata (CQ-117). */
export const CHROMA_BASE: SchemaExtension = {
  name: 'chromabase',
  version: '1.0.0',
  columns: {
    paradigm: 'text',
    subdomain_path: 'text',
    release_status: 'text',
    relevance_date: 'text',
    source_url: 'text',
    layout_traits: 'json',
  },
}
