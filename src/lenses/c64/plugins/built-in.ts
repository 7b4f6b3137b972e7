/**
 * The plugins of this folder, named one by one so that a bundle, which has no folder to look into, holds them all. A test
 * compares the list with the files.
 */
import type { EnrichmentPlugin } from '../enrichment/plugin.ts'
import { ColorEnrichment } from './color_enrichment.ts'
import { EverydayWordsEnrichment } from './everyday_words_enrichment.ts'
import { MemoryMapEnrichment } from './memory_map_enrichment.ts'
import { MirrorEnrichment } from './mirror_enrichment.ts'
import { NameAddressEnrichment, type NameAddressOptions } from './name_address_enrichment.ts'
import { NumberEnrichment } from './number_enrichment.ts'
import { OpcodeEnrichment } from './opcode_enrichment.ts'
import { RegisterEnrichment } from './register_enrichment.ts'
import { TagEnrichment } from './tag_enrichment.ts'

export function builtInPlugins(options: NameAddressOptions = {}): readonly EnrichmentPlugin[] {
  return [
    new NumberEnrichment(),
    new MirrorEnrichment(),
    new MemoryMapEnrichment(),
    new ColorEnrichment(),
    new OpcodeEnrichment(),
    new RegisterEnrichment(),
    new TagEnrichment(),
    new NameAddressEnrichment(options),
    new EverydayWordsEnrichment(),
  ]
}
