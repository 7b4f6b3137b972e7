/** The sources of one engine beside its own store: those that the configuration names. Opened when they are first asked for. */
import { z } from 'zod'
import { invalidArgument } from '../model/errors.ts'
import { partitionKey } from '../model/partition.ts'
import type { AccessScope } from '../model/viewer.ts'
import { LOCAL_SOURCE, type Source } from '../pipeline/source.ts'
import type { Store } from '../store/store.ts'

export interface SourceParts {
  readonly store: Store
  readonly settings: Readonly<Record<string, SourceSettings>>
  readonly environment: Readonly<Record<string, string>>
}

export class SourceSet {
  readonly #parts: SourceParts
  readonly #opened = new Map<string, Promise<Source>>()

  constructor(parts: SourceParts) {
    this.#parts = parts
  }

  get names(): readonly string[] {
    return [LOCAL_SOURCE, ...Object.keys(this.#parts.settings)]
  }

  /** Rejects with `invalid_argument`, naming those there are. */
  async get(name: string): Promise<Source> {
    const opened = this.#opened.get(name) ?? this.#open(name)
    this.#opened.set(name, opened)
    return opened
  }

  async close(): Promise<void> {
    for (const source of this.#opened.values()) await (await source.catch(() => null))?.close()
  }

  async #open(name: string): Promise<Source> {
    const { store, settings, environment } = this.#parts
    if (!Object.hasOwn(settings, name)) throw invalidArgument('store', name, `one of ${this.names.join(', ')}`)
    const { openSource } = await import('./open-source.ts')
    return openSource(name, settings[name] as SourceSettings, environment, accessScope => keysIn(accessScope, store))
  }
}

function keysIn({ partitions }: AccessScope, store: Store): readonly string[] {
  return store.partitions().flatMap(({ id, audience }) => (partitions.includes(id) ? [partitionKey(audience)] : []))
}

/** Sources as the configuration names them. Keys stay in the environment: a setting says under which name. */
const numericDate = z.strictObject({
  key: z.string().min(1).describe("The metadata key that holds each record's date as a number"),
  unit: z.enum(['s', 'ms']).describe('Seconds or milliseconds since 1970'),
  undated: z.number().nullable().default(null).describe('What is there without a date; null: nothing'),
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
