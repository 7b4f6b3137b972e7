/** The one list of lenses that come with the engine. */
import { chromaLens } from '../lenses/chroma/chroma-lens.ts'
import { defaultLens } from '../lenses/default/default-lens.ts'
import type { Lens } from '../lenses/lens.ts'

export const BUILT_IN_LENSES: readonly Lens[] = [defaultLens, chromaLens()]
