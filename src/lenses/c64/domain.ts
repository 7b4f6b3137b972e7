/** The Commodore 64 as a domain of the enrichment pipeline. */
import { C64_NUMBERS } from './c64-numbers.ts'
import { c64Corpus } from './corpus/corpus.ts'
import type { EnrichmentDomain } from './enrichment/domain.ts'
import type { EnrichmentPlugin } from './enrichment/plugin.ts'
import { canonicalTag, tagsFor } from './names/tags.ts'
import { builtInPlugins } from './plugins/built-in.ts'
import type { NameAddressOptions } from './plugins/name_address_enrichment.ts'

export interface C64Options extends NameAddressOptions {
  /** Plugins of the user's own; they take their places among the built-in ones by priority. */
  readonly plugins?: readonly EnrichmentPlugin[] | undefined
}

export function c64Domain(options: C64Options = {}): EnrichmentDomain {
  return {
    name: 'c64',
    plugins: [...builtInPlugins(options), ...(options.plugins ?? [])],
    numbers: C64_NUMBERS,
    canonicalTag,
    tagsFor,
    corpus: c64Corpus,
  }
}
