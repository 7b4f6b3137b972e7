/** An embedder as callers may give it: one of their own, or the settings of one to open. */
import type { Embedder } from '../embed/embedder.ts'
import type { EmbedderSettings } from '../embed/open-embedder.ts'

export type GivenEmbedder = Embedder | EmbedderSettings

export function isEmbedder(given: GivenEmbedder | 'none' | undefined): given is Embedder {
  return typeof given === 'object' && given !== null && 'embed' in given
}
