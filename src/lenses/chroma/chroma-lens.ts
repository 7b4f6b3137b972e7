/** The lens `chroma`: knowledge in colour space, ranked by relevance, recency and strength. */
import type { Lens, LensHost } from '../lens.ts'
import { memoryJobs } from './memory/cycles.ts'
import { CHROMA_OPERATIONS } from './operations.ts'
import { Extensions, type SchemaExtension } from './profiles/extensions.ts'
import type { ProfileHooks } from './profiles/query-profile.ts'
import { installPlugin, isPlugin, Profiles } from './profiles/registry.ts'
import { type ChromaOptions, chromaOptions } from './query/question.ts'
import { POINTS } from './query/search.ts'
import { chromaStages, touchNodes } from './query/stages.ts'
import { type Sleep, sleepFor } from './retry.ts'
import { type ConstructedSettings, resolveSettings, wrong } from './settings.ts'
import { closeState, type LensSettings, stateOf } from './state.ts'
import { CHROMA_TABLES, NODES } from './tables.ts'
import { CHROMA_TRANSFER } from './transfer.ts'

export interface ChromaLensOptions extends ConstructedSettings {
  /** Query profiles by name. */
  readonly profiles?: Readonly<Record<string, ProfileHooks>> | undefined
  readonly extensions?: readonly SchemaExtension[] | undefined
  /** How retries wait; for tests. */
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
