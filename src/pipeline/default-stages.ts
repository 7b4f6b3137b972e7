/** The stages that answer when a lens replaces none. */
import { diversify } from './diversify.ts'
import { enrich } from './enrich.ts'
import { parse } from './parse.ts'
import { present } from './present.ts'
import { respell } from './respell.ts'
import { retrieve, retrieveForPage } from './retrieve.ts'
import { score } from './score.ts'
import type { DirectStages } from './stage.ts'

/** What a lens builds on: it may replace any of them. */
export const DEFAULT_STAGES: DirectStages = { parse, enrich, retrieve, score, diversify, present }

/** The default lens's own: the same answers, found with less work, since retrieval knows the formula. */
export const DEFAULT_LENS_STAGES: DirectStages = { ...DEFAULT_STAGES, respell, retrieve: retrieveForPage }
