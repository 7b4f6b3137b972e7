/** Nodes: stored, read, changed, carried elsewhere. */
import { z } from 'zod'
import { camelKeys } from '../camel.ts'
import { Chroma } from '../chroma.ts'
import { QueryError } from '../errors.ts'
import { nodeRow } from '../model.ts'
import { changeNode, entryId, nodeChanges, nodeUpdate } from '../nodes/change.ts'
import { newNode, storeNode } from '../nodes/create.ts'
import { documentToImport, nodeDocument } from '../nodes/export.ts'
import { retryingWrite } from '../retry.ts'
import { stateOf } from '../state.ts'
import { chromaOperation } from './chroma-operation.ts'

const node = z.strictObject({ entry_id: entryId })
const updated = z.strictObject({
  updated: z.boolean().describe('false: nothing was given to change, or the viewer holds no such node'),
})

const store = chromaOperation({
  name: 'chroma.store',
  summary: 'Store a node at the colour of its hashtags',
  input: newNode,
  output: z.strictObject({ entry_id: z.string().describe('Id of the new node') }),
  effect: { kind: 'write', idempotent: false },
  async run(host, input, { viewer }) {
    const state = stateOf(host)
    return { entry_id: await retryingWrite(() => storeNode(state, viewer, camelKeys(input)), state) }
  },
})

const get = chromaOperation({
  name: 'chroma.get',
  summary: 'Read one node; it does not count as use',
  input: node,
  output: nodeRow,
  effect: { kind: 'read', idempotent: true },
  async run(host, { entry_id }, { viewer }) {
    const found = await new Chroma(host, viewer).getNode(entry_id)
    if (found !== null) return found
    const traits = { kind: 'not_found', help: 'Check the entry_id with `querent chroma query`.' } as const
    throw new QueryError('not_found', `entry_id: there is no node ${JSON.stringify(entry_id)}`, {}, undefined, traits)
  },
})

const update = chromaOperation({
  name: 'chroma.update',
  summary: 'Replace label, content or metadata of a node; its hashtags stay',
  input: nodeUpdate.extend({ entry_id: entryId }),
  output: updated,
  effect: { kind: 'write', idempotent: false },
  run: async (host, { entry_id, ...changes }, { viewer }) => ({
    updated: await new Chroma(host, viewer).updateNode(entry_id, changes),
  }),
})

const remove = chromaOperation({
  name: 'chroma.delete',
  summary: 'Delete a node for good',
  input: node,
  output: z.strictObject({ deleted: z.boolean().describe('false: the viewer holds no such node') }),
  effect: { kind: 'destroy', idempotent: true },
  run: async (host, { entry_id }, { viewer }) => ({ deleted: await new Chroma(host, viewer).deleteNode(entry_id) }),
})

const set = chromaOperation({
  name: 'chroma.set',
  summary:
    "Change a node, all or nothing: its texts, memory mode, whether it decays, that it is rotten, plug-ins' columns",
  input: nodeChanges.extend({ entry_id: entryId }),
  output: updated,
  effect: { kind: 'write', idempotent: true },
  async run(host, { entry_id, ...changes }, { viewer }) {
    const state = stateOf(host)
    state.access.flush()
    return { updated: await retryingWrite(() => changeNode(state, viewer, entry_id, changes), state) }
  },
})

const exportAll = chromaOperation({
  name: 'chroma.export',
  summary: 'Give all nodes you hold, with everything known of them, as one document',
  input: z.strictObject({}),
  output: nodeDocument,
  effect: { kind: 'read', idempotent: true },
  run: (host, _input, { viewer }) => new Chroma(host, viewer).exportNodes(),
})

const importAll = chromaOperation({
  name: 'chroma.import',
  summary: 'Restore nodes from an exported document: all of them or none',
  input: documentToImport,
  output: z.strictObject({ imported: z.int().min(0).describe('Nodes of the document') }),
  effect: { kind: 'write', idempotent: false },
  run: (host, document, { viewer }) => new Chroma(host, viewer).importNodes(document),
})

export const NODE_OPERATIONS = [store, get, update, remove, set, exportAll, importAll] as const
