/** Sources as the configuration names them. Keys stay in the environment: a setting says under which name. */
import { z } from 'zod'

const numericDate = z.strictObject({
  key: z.string().min(1),
  unit: z.enum(['s', 'ms']),
  undated: z.number().nullable().default(null),
})

const common = {
  url: z.string().min(1),
  /** Whether viewers other than the owner may ask what was not mirrored there. */
  public: z.boolean().optional(),
  /** The metadata key under which every record's date stands as a number. */
  numeric_date: numericDate.optional(),
}

const chromadb = z.strictObject({
  ...common,
  kind: z.literal('chromadb'),
  tenant: z.string().optional(),
  database: z.string().optional(),
  /** Variable of the environment that holds the token. */
  token_env: z.string().optional(),
  /** The metadata key under which records keep their tags as a list. */
  tags_key: z.string().optional(),
})

const qdrant = z.strictObject({
  ...common,
  kind: z.literal('qdrant'),
  /** Variable of the environment that holds the key. */
  api_key_env: z.string().optional(),
  vector_name: z.string().optional(),
  content_key: z.string().optional(),
  /** A sparse vector of the collections, and the server's model that makes one of a question. */
  sparse: z.strictObject({ vector_name: z.string(), model: z.string() }).optional(),
})

export const sourceSettings: z.ZodType<SourceSettings> = z.discriminatedUnion('kind', [chromadb, qdrant])

export type SourceSettings = z.output<typeof chromadb> | z.output<typeof qdrant>
