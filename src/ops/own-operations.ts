/**
 * Names, summaries and effects of the engine's own operations, in the order in which they are listed. They are apart from the operations so
 * that the command line can list its commands without loading schemas and engine, which takes longer than most commands.
 */
import type { Operation } from '../model/operation.ts'

export type Described = Pick<Operation, 'name' | 'summary' | 'effect'>

const READ = { kind: 'read', idempotent: true } as const
/** Each answer counts as a use of the entries that it shows. */
const ASK = { kind: 'read', idempotent: false } as const
/** Repeating it changes nothing; for the owner of the store alone. */
const OWNERS_WRITE = { kind: 'write', idempotent: true, ownerOnly: true } as const

export const OWN = {
  query: { name: 'query', summary: 'Search; results are ranked passages with lines, score and reason', effect: ASK },
  explain: {
    name: 'explain',
    summary: 'Explain why an entry has its rank, why it is missing, or why it ranks above another',
    effect: READ,
  },
  count: { name: 'count', summary: 'Count the results of a query on all pages', effect: READ },
  similar: { name: 'similar', summary: 'Find entries similar to a given one', effect: ASK },
  watch: { name: 'watch', summary: 'Query, then report changes of the answer as they happen', effect: READ },
  get: {
    name: 'get',
    summary: 'Read one entry by id and count a use of it',
    effect: ASK,
  },
  touch: {
    name: 'touch',
    summary: 'Count a use of entries that were opened or cited',
    effect: ASK,
  },
  list: {
    name: 'list',
    summary: 'List entries that match a filter, without their content',
    effect: READ,
  },
  suggest: {
    name: 'suggest',
    summary: 'Complete the names of collections, kinds, tags and, for the owner, holders',
    effect: READ,
  },
  put: {
    name: 'put',
    summary: 'Write entries; an entry with the id of your own entry replaces it',
    effect: { kind: 'write', idempotent: false },
  },
  add: {
    name: 'add',
    summary: 'Add files and folders; later runs find new, changed and deleted files',
    effect: OWNERS_WRITE,
  },
  sync: {
    name: 'sync',
    summary: 'Read the changed files of added folders again',
    effect: OWNERS_WRITE,
  },
  delete: { name: 'delete', summary: 'Delete entries by id', effect: { kind: 'destroy', idempotent: true } },
  status: {
    name: 'status',
    summary: 'Show what the store holds and how much of it is embedded and indexed',
    effect: READ,
  },
  doctor: {
    name: 'doctor',
    summary: 'Check store, indexes and embedder, say how to fix problems, and repair them on request',
    effect: OWNERS_WRITE,
  },
  backup: {
    name: 'backup',
    summary: 'Copy the store into one file, also while others write to it',
    effect: { kind: 'write', idempotent: false, ownerOnly: true },
  },
  export: {
    name: 'export',
    summary: 'Export everything in the store as lines for `import`',
    effect: { kind: 'read', idempotent: true, ownerOnly: true },
  },
  import: {
    name: 'import',
    summary: 'Import the lines of an export',
    effect: OWNERS_WRITE,
  },
  lenses: { name: 'lenses', summary: 'List the lenses', effect: READ },
  brief: {
    name: 'brief',
    summary: 'Summarise for an assistant what the store holds and how to query it',
    effect: READ,
  },
  mirror: {
    name: 'mirror',
    summary: 'Copy a collection to ChromaDB or Qdrant; run it again to update the copy',
    effect: OWNERS_WRITE,
  },
  models: {
    name: 'models',
    summary: 'List the models in use, with what they have embedded and how long the rest takes',
    effect: { ...READ, ownerOnly: true },
  },
  check_model: {
    name: 'check_model',
    summary: 'Try a model: dimensions, size, self-test, speed',
    effect: { ...READ, ownerOnly: true },
  },
  use_model: {
    name: 'use_model',
    summary: 'Use a model from now on: it embeds everything in the background, until then the previous model answers',
    effect: OWNERS_WRITE,
  },
} as const satisfies Readonly<Record<string, Described>>
