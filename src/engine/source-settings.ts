/** Sources as the configuration names them. Keys stay in the environment: a setting says under which name. */
import { z } from 'zod'

const numericDate = z.strictObject({
  key: z.string().min(1).describe("The metadata key where each record's date stands as a number"),
  unit: z.enum(['s', 'ms']).describe('Seconds or milliseconds since 1970'),
  undated: z.number().nullable().default(null).describe('What stands there without a date; null: nothing'),
})

const common = {
  url: z.string().min(1).describe("The server's address"),
  public: z.boolean().optional().meta({
    description: 'Whether viewers other than the owner may ask collections that were not mirrored there',
    default: false,
  }),
  numeric_date: numericDate.optional().describe('A day filter then runs in the server. Default: it runs here'),
}

const chromadb = z.strictObject({
  ...common,
  kind: z.literal('chromadb').describe('A ChromaDB server'),
  tenant: z.string().optional().describe("Default: the server's own"),
  database: z.string().optional().describe("Default: the server's own"),
  token_env: z.string().optional().describe('Variable of the environment that holds the token. Default: no token'),
  tags_key: z
    .string()
    .optional()
    .describe('The metadata key that holds tags as a list. Default: a key tag:<name> for each'),
})

const qdrant = z.strictObject({
  ...common,
  kind: z.literal('qdrant').describe('A Qdrant server'),
  api_key_env: z.string().optional().describe('Variable of the environment that holds the key. Default: no key'),
  vector_name: z.string().optional().describe('Which vector, where there are several. Default: the unnamed one'),
  content_key: z
    .string()
    .optional()
    .describe('The payload key of the text. Default: the first of document, content, text, page_content'),
  sparse: z
    .strictObject({
      vector_name: z.string().describe('A sparse vector of the collections'),
      model: z.string().describe("The server's model that makes one of a question"),
    })
    .optional()
    .describe('Fused with the dense vector. Default: none'),
})

export const sourceSettings: z.ZodType<SourceSettings> = z.discriminatedUnion('kind', [chromadb, qdrant])

export type SourceSettings = z.output<typeof chromadb> | z.output<typeof qdrant>
