/** Finding the concepts that a question is about: by id, or by name as people write it. */
import { z } from 'zod'
import type { LinkIndex } from '../../../index/contract.ts'
import type { Call } from '../call.ts'
import type { Concept } from '../concepts.ts'
import { refusal } from '../envelope.ts'
import { type Look, look, mustSee } from '../mind/look.ts'
import { foldName } from '../names.ts'
import { id, REQUIRED } from '../schemas.ts'
import { LINKS } from '../tables.ts'

/** Parameters that name a concept, and others. */
export function namedAnd<Shape extends z.ZodRawShape>(more: Shape) {
  return z
    .object({
      id: id.nullish().describe('Number of a concept; this or name is required'),
      name: z
        .string()
        .nullish()
        .describe('Its name: login, LoginService.login, or the path of a module; this or id is required'),
      ...more,
    })
    .refine(named => isNamed(named as Named), { ...REQUIRED, path: ['name'], error: 'is required' })
    .meta({ anyOf: [{ required: ['id'] }, { required: ['name'] }], examples: [{ name: 'LoginService.login' }] })
}

interface Named {
  readonly id?: number | null | undefined
  readonly name?: string | null | undefined
}

function isNamed({ id, name }: Named): boolean {
  return (id ?? null) !== null || (name ?? '').trim() !== ''
}

export interface Asked {
  readonly seen: Look
  readonly links: LinkIndex
  /** Best match first. */
  readonly concepts: readonly Concept[]
}

/** Throws `Refusal` where nothing is named so. */
export function findNamed(call: Call, { id, name }: Named): Asked {
  const seen = look(call)
  const links = call.host.index(LINKS.name) as LinkIndex
  if (id !== null && id !== undefined) return { seen, links, concepts: [mustSee(seen, id)] }
  const wanted = (name ?? '').trim()
  const concepts = conceptsNamed(seen, wanted)
  if (concepts.length === 0) throw refusal('name', 'not_found', `there is no concept named ${wanted}`)
  return { seen, links, concepts }
}

/** Whole names before members' names before either in other letters; of those, by id. */
function conceptsNamed({ concepts }: Look, name: string): readonly Concept[] {
  const folded = foldName(name)
  const tests: readonly ((concept: Concept) => boolean)[] = [
    concept => concept.name === name,
    concept => isTail(concept.name, name),
    concept => concept.folded === folded,
    concept => isTail(concept.folded, folded),
  ]
  for (const test of tests) {
    const found = concepts.all.filter(test)
    if (found.length > 0) return found
  }
  return []
}

export function place({ url, startLine, endLine }: Concept): {
  url: string | null
  start_line: number | null
  end_line: number | null
} {
  return { url, start_line: startLine, end_line: endLine }
}

/** `load` of `Store.load`; `store.ts` of `src/store.ts`. */
function isTail(name: string, tail: string): boolean {
  return name.length > tail.length && name.endsWith(tail) && /[./]/.test(name.charAt(name.length - tail.length - 1))
}
