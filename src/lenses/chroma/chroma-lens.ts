/**
 * The lens `chroma`: it gives each entry a position in colour space by its hashtags, and ranks entries by relevance (nearness in colour),
 * recency and strength of use.
 */
import { sha256 } from '../../base/canonical.ts'
import { invalidArgument } from '../../model/errors.ts'
import type { Row } from '../../model/table.ts'
import type { StoreWriter } from '../../store/store.ts'
import type { ImportContext, Lens, LensHost, LensImport, LensTransfer } from '../lens.ts'
import { bindingOf, HASHTAG_STAMP } from './colour/bindings.ts'
import { type Sleep, sleepFor } from './errors.ts'
import { memoryJobs } from './memory/changes.ts'
import { CHROMA_OPERATIONS } from './operations.ts'
import { Extensions, type ProfileHooks, type SchemaExtension } from './profiles/query-profile.ts'
import { installPlugin, isPlugin, Profiles } from './profiles/registry.ts'
import { type ChromaOptions, chromaOptions, POINTS } from './query/question.ts'
import { chromaStages, touchNodes } from './query/stages.ts'
import { type ConstructedSettings, resolveSettings, wrong } from './settings.ts'
import { closeState, type LensSettings, stateOf } from './state.ts'
import { CHROMA_TABLES, HASHTAGS, logUses, MEMORY, NODES } from './tables.ts'

export interface ChromaLensOptions extends ConstructedSettings {
  /** Query profiles (which turn texts into hashtags and parameters) to be registered with the lens, by name. */
  readonly profiles?: Readonly<Record<string, ProfileHooks>> | undefined
  readonly extensions?: readonly SchemaExtension[] | undefined
  /** Waits between attempts to write to a busy store; tests replace it. */
  readonly sleep?: Sleep | undefined
}

export function chromaLens(options: ChromaLensOptions = {}): Lens {
  const { profiles, extensions, sleep = sleepFor, ...constructed } = options
  return {
    name: 'chroma',
    summary: 'Nodes by the colour of their hashtags, and by how recently and often they were used',
    tables: CHROMA_TABLES,
    transfer: CHROMA_TRANSFER,
    pointIndexes: [{ name: POINTS, table: NODES, columns: ['l', 'a', 'b'] }],
    readsWords: false,
    options: chromaOptions,
    stages: chromaStages,
    touch: (host, viewer, entries, now, options) => touchNodes(host, viewer, entries, now, options as ChromaOptions),
    operations: CHROMA_OPERATIONS,
    jobs: memoryJobs(host => stateOf(host).memory),
    settings: (file, environment): LensSettings => ({
      settings: resolveSettings({ file, environment, constructed }),
      profiles: new Profiles({ profiles, sleep }),
      extensions: new Extensions(extensions),
      sleep,
    }),
    takes: '`profiles` or `extensions`',
    install: (host, exported) => {
      if (!isPlugin(exported)) return false
      installPlugin(exported, stateOf(host))
      return true
    },
    open,
    close: closeState,
  }
}

function open(host: LensHost): void {
  const { settings, profiles, extensions } = stateOf(host)
  const { defaultProfile } = settings.query
  if (!profiles.names.includes(defaultProfile)) {
    throw wrong('query.default_profile', defaultProfile, `one of ${profiles.names.join(', ')}`)
  }
  profiles.setDefault(defaultProfile)
  extensions.start(host.store, host.clock.now())
}

// Rules for importing chroma data into a store: a hashtag must be bound to the anchor (fixed colour position) that it has in the store, and
// processes that cache memories are notified.

export const CHROMA_TRANSFER: LensTransfer = {
  flush: host => stateOf(host).access.flush(),
  beginImport: (writer, context) => new ChromaImport(writer, context),
}

class ChromaImport implements LensImport {
  readonly #writer: StoreWriter
  readonly #context: ImportContext
  readonly #viewers = new Set<string>()
  #hasBindings = false

  constructor(writer: StoreWriter, context: ImportContext) {
    this.#writer = writer
    this.#context = context
  }

  row(table: string, row: Row): Row {
    if (table === MEMORY.name) this.#viewers.add(row['viewer'] as string)
    if (table === HASHTAGS.name) this.#checkBinding(row)
    return row
  }

  /**
   * Requires that an imported hashtag has the same anchor (fixed colour position) in the document as in the store. Colours of nodes (stored
   * notes) are computed from anchors, so another anchor would give nodes wrong positions.
   */
  #checkBinding(row: Row): void {
    const { anchor, hashtag } = row as { anchor: number; hashtag: string }
    if (bindingOf(hashtag, anchor) === undefined) throw invalidArgument('anchor', anchor, 'an anchor that there is')
    const there = this.#writer.table(HASHTAGS)
    const other = [there.get({ anchor }), ...there.scan({ hashtag })].find(
      each => each !== undefined && (each['anchor'] !== anchor || each['hashtag'] !== hashtag),
    )
    if (other !== undefined) {
      const expected = `the binding that this store has, ${other['hashtag']} on anchor ${other['anchor']}; import into another home`
      throw invalidArgument('hashtag', `${hashtag} on anchor ${anchor}`, expected)
    }
    this.#hasBindings = true
  }

  end(): readonly string[] {
    if (this.#hasBindings) this.#writer.setMeta(HASHTAG_STAMP, sha256(this.#context.random(16)))
    for (const viewer of this.#viewers) logUses(this.#writer, viewer, null)
    return []
  }
}
