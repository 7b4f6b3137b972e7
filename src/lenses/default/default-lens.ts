/** The lens that asks everything the store holds, by words and meaning, lifted a little by use. */

import { DEFAULT_LENS_STAGES } from '../../pipeline/default-stages.ts'
import type { Lens } from '../lens.ts'

export const defaultLens: Lens = {
  name: 'default',
  summary: 'Everything the store holds, by words and meaning',
  stages: DEFAULT_LENS_STAGES,
}
