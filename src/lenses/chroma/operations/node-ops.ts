/** Nodes: stored, read, changed, carried elsewhere. */
import type { Operation } from '../../../model/operation.ts'
import type { LensHost } from '../../lens.ts'
import {
  answers,
  described,
  FLAG,
  fields,
  INTEGER,
  OBJECT,
  OBJECT_OR_NULL,
  OBJECTS,
  TEXT,
  type WireInput,
} from '../../wire-schema.ts'
import { Chroma } from '../chroma.ts'
import { QueryError } from '../errors.ts'
import { MODE_NAMES } from '../model.ts'
import { changeNode, type NodeUpdate } from '../nodes/change.ts'
import type { NewNode } from '../nodes/create.ts'
import type { NodeDocument } from '../nodes/export.ts'
import { retrying } from '../retry.ts'
import { stateOf } from '../state.ts'
import { camelCased, only, TAGS } from './wire.ts'

const ID = described(TEXT, 'entry_id of a node')
const MODE = { type: 'string', enum: [...MODE_NAMES] }
const CHANGED = answers({ updated: FLAG })

const STORED: readonly string[] = [
  ...['hashtags', 'label', 'content', 'metadata', 'mode_name', 'plugin_fields', 'visibility', 'federations'],
  'collection',
]

const store: Operation<LensHost> = {
  name: 'chroma.store',
  summary: 'Store a node at the colour of its hashtags',
  input: fields(
    {
      hashtags: TAGS,
      label: described(TEXT, 'At most 500 characters'),
      content: described(TEXT, 'At most 1 MiB'),
      metadata: described(OBJECT_OR_NULL, 'Anything else about it, for filters'),
      mode_name: described(MODE, 'How it remembers; default that of the settings'),
      plugin_fields: described(OBJECT, 'Values of columns that plug-ins added'),
      visibility: described(
        { type: 'string', enum: ['private', 'shared', 'public'] },
        'Who may see it; default private',
      ),
      federations: described({ type: 'array', items: { type: 'string' } }, 'With shared: those that may see it'),
      collection: described(TEXT, 'What it belongs to'),
    },
    ['hashtags', 'label', 'content'],
  ),
  output: answers({ entry_id: TEXT }),
  effect: { kind: 'write', idempotent: false },
  async run(host, given, { viewer }) {
    return {
      entry_id: await new Chroma(host, viewer).store(camelCased(given as WireInput, STORED) as unknown as NewNode),
    }
  },
}

const get: Operation<LensHost> = {
  name: 'chroma.get',
  summary: 'Read one node; it does not count as use',
  input: fields({ entry_id: ID }, ['entry_id']),
  output: answers({ entry_id: TEXT }),
  effect: { kind: 'read', idempotent: true },
  async run(host, given, { viewer }) {
    const { entry_id } = only(given as WireInput, ['entry_id'])
    const node = await new Chroma(host, viewer).getNode(entry_id as string)
    if (node !== null) return node
    const traits = { kind: 'not_found', help: 'Check the entry_id with `querent chroma query`.' } as const
    throw new QueryError('not_found', `entry_id: there is no node ${JSON.stringify(entry_id)}`, {}, undefined, traits)
  },
}

const update: Operation<LensHost> = {
  name: 'chroma.update',
  summary: 'Replace label, content or metadata of a node; its hashtags stay',
  input: fields(
    {
      entry_id: ID,
      label: described(TEXT, 'A new label'),
      content: described(TEXT, 'A new text'),
      metadata: described(OBJECT_OR_NULL, 'In place of what was there'),
    },
    ['entry_id'],
  ),
  output: CHANGED,
  effect: { kind: 'write', idempotent: false },
  async run(host, given, { viewer }) {
    const { entry_id, ...changes } = only(given as WireInput, ['entry_id', 'label', 'content', 'metadata'])
    return { updated: await new Chroma(host, viewer).updateNode(entry_id as string, changes as NodeUpdate) }
  },
}

const remove: Operation<LensHost> = {
  name: 'chroma.delete',
  summary: 'Delete a node for good',
  input: fields({ entry_id: ID }, ['entry_id']),
  output: answers({ deleted: FLAG }),
  effect: { kind: 'destroy', idempotent: true },
  async run(host, given, { viewer }) {
    const { entry_id } = only(given as WireInput, ['entry_id'])
    return { deleted: await new Chroma(host, viewer).deleteNode(entry_id as string) }
  },
}

const CHANGES = {
  entry_id: ID,
  label: described(TEXT, 'A new label'),
  content: described(TEXT, 'A new text'),
  metadata: described(OBJECT_OR_NULL, 'In place of what was there'),
  mode_name: described(MODE, 'How it remembers'),
  decay_enabled: described(FLAG, 'Whether it fades when it is not used'),
  rotten: described(FLAG, 'true; a rotten node is rescued by being used'),
  plugin_fields: described(OBJECT, 'Columns of plug-ins'),
}

const set: Operation<LensHost> = {
  name: 'chroma.set',
  summary:
    "Change a node, all or nothing: its texts, memory mode, whether it decays, that it is rotten, plug-ins' columns",
  input: fields(CHANGES, ['entry_id']),
  output: CHANGED,
  effect: { kind: 'write', idempotent: true },
  async run(host, given, { viewer }) {
    const { entry_id, ...changes } = only(given as WireInput, Object.keys(CHANGES))
    const state = stateOf(host)
    state.access.flush()
    return { updated: await retrying(() => changeNode(state, viewer, entry_id, changes), state.sleep) }
  },
}

const exportAll: Operation<LensHost> = {
  name: 'chroma.export',
  summary: 'Give all nodes you hold, with everything known of them, as one document',
  input: fields({}),
  output: answers({ version: INTEGER, exported_at: INTEGER, nodes: OBJECTS, bindings: OBJECT }),
  effect: { kind: 'read', idempotent: true },
  run: async (host, given, { viewer }) => {
    only(given as WireInput, [])
    return new Chroma(host, viewer).exportNodes()
  },
}

const importAll: Operation<LensHost> = {
  name: 'chroma.import',
  summary: 'Restore nodes from an exported document: all of them or none',
  input: fields({ version: INTEGER, exported_at: INTEGER, nodes: OBJECTS, bindings: OBJECT }, ['version', 'nodes']),
  output: answers({ imported: INTEGER }),
  effect: { kind: 'write', idempotent: false },
  run: async (host, given, { viewer }) => new Chroma(host, viewer).importNodes(given as unknown as NodeDocument),
}

export const NODE_OPERATIONS: readonly Operation<LensHost>[] = [store, get, update, remove, set, exportAll, importAll]
