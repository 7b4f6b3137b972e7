/**
 * The one list of lenses that come with the engine. What every store must know of them is here; their code is loaded
 * when they are needed, for a short command pays for every module it loads.
 */
import { BELIEFS_TABLES } from '../lenses/beliefs/tables.ts'
import { CHROMA_TABLES } from '../lenses/chroma/tables.ts'
import { CONTEXT_TABLES } from '../lenses/context/tables.ts'
import { CONVERSATIONS_TABLES, MESSAGE_KINDS } from '../lenses/conversations/tables.ts'
import { defaultLens } from '../lenses/default/default-lens.ts'
import type { Lens } from '../lenses/lens.ts'
import type { TableDeclaration } from '../model/table.ts'
import { CORE_TABLES } from '../store/core-tables.ts'

export interface BuiltInLens {
  readonly name: string
  readonly tables: readonly TableDeclaration[]
  /** As `Lens.families`. */
  readonly families?: readonly string[]
  /** As `Lens.kinds`. */
  readonly kinds?: readonly string[]
  /** Whether it has `Lens.install`. */
  readonly takesPlugins?: boolean
  load(): Lens | Promise<Lens>
}

export const BUILT_IN_LENSES: readonly BuiltInLens[] = [
  { name: 'default', tables: [], load: () => defaultLens },
  {
    name: 'chroma',
    tables: CHROMA_TABLES,
    takesPlugins: true,
    load: async () => (await import('../lenses/chroma/chroma-lens.ts')).chromaLens(),
  },
  {
    name: 'collections',
    tables: [],
    load: async () => (await import('../lenses/collections/collections-lens.ts')).collectionsLens,
  },
  {
    name: 'c64',
    tables: [],
    takesPlugins: true,
    load: async () => (await import('./openings/c64.ts')).c64LensOf(),
  },
  {
    name: 'context',
    tables: CONTEXT_TABLES,
    load: async () => (await import('../lenses/context/context-lens.ts')).contextLens(),
  },
  {
    name: 'conversations',
    tables: CONVERSATIONS_TABLES,
    kinds: MESSAGE_KINDS,
    load: async () => (await import('../lenses/conversations/conversations-lens.ts')).conversationsLens,
  },
  {
    name: 'beliefs',
    tables: BELIEFS_TABLES,
    families: ['trust', 'agents', 'federations', 'nodes', 'peers'],
    takesPlugins: true,
    load: async () => (await import('../lenses/beliefs/beliefs-lens.ts')).beliefsLens,
  },
]

/** Tables of the store itself and of every lens that comes with the engine. */
export function declaredTables(): readonly TableDeclaration[] {
  return [...CORE_TABLES, ...BUILT_IN_LENSES.flatMap(({ tables }) => tables)]
}
