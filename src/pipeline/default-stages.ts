/** The stages that answer when a lens replaces none. */
import { diversify } from './diversify.ts'
import { enrich } from './enrich.ts'
import { parse } from './parse.ts'
import { present } from './present.ts'
import { retrieve } from './retrieve.ts'
import { score } from './score.ts'
import type { Stages } from './stage.ts'

export const DEFAULT_STAGES: Stages = { parse, enrich, retrieve, score, diversify, present }
