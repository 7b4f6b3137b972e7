/** The lens `c64`: questions about the Commodore 64, with what their numbers and names stand for. */
import { QuerentError } from '../../model/errors.ts'
import type { Lens } from '../lens.ts'
import { chunkIngester } from './chunks/chunk-ingester.ts'
import { type EnrichmentPlugin, inOrder, NO_PLUGIN, PLUGIN_FILE, pluginIn } from './enrichment/plugin.ts'
import { C64_OPERATIONS } from './operations.ts'
import { type GivenSettings, resolveSettings } from './settings.ts'
import { type LensSettings, type OpenRemote, stateIfMade, stateOf } from './state.ts'

export interface C64LensOptions extends GivenSettings {
  /** Of the user's own; they take their places among the built-in ones by priority. */
  readonly plugins?: readonly EnrichmentPlugin[] | undefined
}

export interface C64LensParts {
  /** Variables that do not begin with the lens's name: QDRANT_URL, QDRANT_COLLECTION, EMBEDDING_MODEL. */
  readonly variables?: Readonly<Record<string, string | undefined>> | undefined
  readonly openRemote?: OpenRemote | undefined
}

export function c64Lens(options: C64LensOptions = {}, { variables = {}, openRemote }: C64LensParts = {}): Lens {
  const { plugins = [], ...constructed } = options
  return {
    name: 'c64',
    summary: 'The Commodore 64: numbers and names of a question become context and tags, then facts are searched',
    syntax: 'plain',
    operations: C64_OPERATIONS,
    ingesters: [chunkIngester],
    settings: (file, environment): LensSettings => {
      const settings = resolveSettings({ file, environment: { ...variables, ...environment }, constructed })
      if (settings.backend === 'qdrant' && openRemote === undefined) {
        throw new QuerentError('invalid_argument', 'c64.backend: qdrant cannot be asked here', { field: 'backend' })
      }
      return { settings, plugins, openRemote }
    },
    takes: 'a class with a method `enrich`',
    install: (host, exported, file) => {
      const plugin = pluginIn(exported)
      if (plugin !== null) stateOf(host).add(plugin)
      else if (PLUGIN_FILE.test(file)) throw new Error(NO_PLUGIN)
      return plugin !== null
    },
    // Made now: two plugins of one name show when the engine opens.
    open: host => void inOrder(stateOf(host).domain.plugins),
    close: async host => stateIfMade(host)?.close(),
  }
}
