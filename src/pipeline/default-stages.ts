/** The default stages of a query, used wherever a lens replaces none. */
import { diversify } from './diversify.ts'
import { enrich } from './enrich.ts'
import { parse } from './parse.ts'
import { present } from './present.ts'
import { respell } from './respell.ts'
import { retrieve, retrieveForPage } from './retrieve.ts'
import { score } from './score.ts'
import type { DirectStages } from './stage.ts'

/** The default stages on which a lens builds; it may replace any of them. */
export const DEFAULT_STAGES: DirectStages = { parse, enrich, retrieve, score, diversify, present }

/**
 * The stages of the default lens. They give the same answers as the default stages with less work, because retrieval can rely on the
 * default formula for scores.
 */
export const DEFAULT_LENS_STAGES: DirectStages = { ...DEFAULT_STAGES, respell, retrieve: retrieveForPage }
