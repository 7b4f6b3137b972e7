/** Finding the concepts that a question is about: by id, or by name as people write it. */
import type { LinkIndex } from '../../../index/contract.ts'
import type { Call } from '../call.ts'
import type { Concept } from '../concepts.ts'
import { refusal } from '../envelope.ts'
import { type Look, look, mustSee } from '../mind/look.ts'
import { foldName } from '../names.ts'
import type { ParamReader, Params } from '../params.ts'
import { readParams } from '../read-params.ts'
import { NUMBER, TEXT } from '../schemas.ts'
import { LINKS } from '../tables.ts'

export const NAMED = {
  id: { ...NUMBER, description: 'Id of a concept' },
  name: { ...TEXT, description: 'Its name: `login`, `LoginService.login`, or the path of a module' },
}

export interface Asked {
  readonly seen: Look
  readonly links: LinkIndex
  /** Best match first. */
  readonly concepts: readonly Concept[]
}

/** Throws `Refusal` where nothing is named so. `read` reads the other parameters. */
export function readNamed<T>(
  call: Call,
  params: Params,
  read: (reader: ParamReader) => T,
): Asked & { readonly more: T } {
  const { id, name, more } = readParams(call, ['mind'], params, reader => {
    const id = reader.optionalId('id')
    return { id, name: id === null ? reader.question('name').trim() : '', more: read(reader) }
  })
  const seen = look(call)
  const links = call.host.index(LINKS.name) as LinkIndex
  if (id !== null) return { seen, links, concepts: [mustSee(seen, id)], more }
  const concepts = conceptsNamed(seen, name)
  if (concepts.length === 0) throw refusal('name', 'not_found', `there is no concept named ${name}`)
  return { seen, links, concepts, more }
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
