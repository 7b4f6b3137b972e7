/** The lens `c64`: answers questions about the Commodore 64, using the meanings of numbers and names in them. */
import { QuerentError } from '../../model/errors.ts'
import { isOwner } from '../../model/viewer.ts'
import type { Lens } from '../lens.ts'
import { chunkIngester } from './chunk-ingester.ts'
import { hasCorpus, holdsEntries, keepCorpus } from './corpus-store.ts'
import { type EnrichmentPlugin, inOrder, NO_PLUGIN, PLUGIN_FILE, pluginIn } from './enrichment/plugin.ts'
import { C64_OPERATIONS } from './operations.ts'
import { MODEL_KEY } from './server.ts'
import { c64Options, type GivenSettings, resolveSettings } from './settings.ts'
import { c64Stages } from './stages.ts'
import { type LensSettings, stateIfMade, stateOf } from './state.ts'

export interface C64LensOptions extends GivenSettings {
  /** Enrichment plugins supplied by the user. They run together with the built-in ones, in order of priority. */
  readonly plugins?: readonly EnrichmentPlugin[] | undefined
}

export function c64Lens(options: C64LensOptions = {}): Lens {
  const { plugins = [], ...constructed } = options
  return {
    name: 'c64',
    summary: 'The Commodore 64: numbers and names in a query are explained and become tags, then facts are searched',
    syntax: 'plain',
    options: c64Options,
    stages: c64Stages,
    prepare: async (host, { viewer }) => {
      const state = stateOf(host)
      const { backend, collection } = state.settings
      if (backend === 'qdrant') throw askedOfServer()
      const isOwners = isOwner(viewer)
      const isInStore = hasCorpus(host.store, collection) || (isOwners && holdsEntries(host, collection))
      if (!isInStore) return state.inMemory(host)
      if (isOwners) await keepCorpus(host.store, collection, host.clock.now())
      return null
    },
    operations: C64_OPERATIONS,
    ingesters: [chunkIngester],
    variables: ['QDRANT_URL', 'QDRANT_COLLECTION', 'EMBEDDING_MODEL', MODEL_KEY],
    settings: (file, environment): LensSettings => {
      const settings = resolveSettings({ file, environment, constructed })
      return { settings, plugins, hasModelKey: environment[MODEL_KEY] !== undefined }
    },
    takes: 'a class with a method `enrich`',
    install: (host, exported, file) => {
      const plugin = pluginIn(exported)
      if (plugin !== null) stateOf(host).add(plugin)
      else if (PLUGIN_FILE.test(file)) throw new Error(NO_PLUGIN)
      return plugin !== null
    },
    // The plugins are put in order when the engine opens, so that two plugins with one name are reported at once.
    open: host => void inOrder(stateOf(host).domain.plugins),
    close: async host => stateIfMade(host)?.close(),
  }
}

/**
 * The error for a pipeline query if the lens is configured to search a Qdrant server, because the pipeline searches only the local store.
 */
function askedOfServer(): QuerentError {
  const message =
    'lens: c64 is set to a Qdrant server (lenses.c64.backend), which only c64.query supports; set it to embedded'
  return new QuerentError('invalid_argument', message, { field: 'lens' })
}
