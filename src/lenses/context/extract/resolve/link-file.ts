/** The links of one file: its references, as far as they can be resolved. Anything else is left out, not guessed. */
import { type Extraction, type FileReference, isUndeclared, MODERATE, type Relation } from '../concept.ts'
import { Evaluator, type Value } from './evaluate.ts'
import type { ConceptPlace, Facts } from './facts.ts'
import { linkTarget } from './link-target.ts'

export type LinkTarget = ConceptPlace | { readonly package: string }

export interface Link {
  /** Key of a concept of the file. */
  readonly source: string
  readonly relation: Relation
  readonly target: LinkTarget
  readonly weight: number
}

/** In order of source, relation and target; between the same two at most one of each relation; none to itself. */
export function linkFile(extraction: Extraction, facts: Facts): readonly Link[] {
  const evaluator = new Evaluator(facts)
  const links = new Map<string, Link>()
  for (const reference of extraction.references) {
    const link = resolve(reference, extraction.path, evaluator, facts)
    if (link === null) continue
    const id = idOf(link)
    if (!(links.has(id) && (links.get(id) as Link).weight >= link.weight)) links.set(id, link)
  }
  return [...links].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, link]) => link)
}

export function idOf({ source, relation, target }: Link): string {
  return [source, relation, ...('package' in target ? ['', target.package] : [target.path, target.key])].join('\n')
}

function resolve(reference: FileReference, path: string, evaluator: Evaluator, facts: Facts): Link | null {
  const { source, relation, target, weight } = reference
  const found = targetOf(reference, path, evaluator, facts)
  if (found === null || ('path' in found && found.path === path && found.key === source)) return null
  if ('local' in target || 'package' in found) return { source, relation, target: found, weight }
  // What is called is a value; a type, as where Go converts to one, or a module is used.
  const isUse = relation === 'CALLS' && !/^(?:Function|Method|Class|Constant) /.test(found.key)
  return isUse
    ? { source, relation: 'USES', target: found, weight: MODERATE }
    : { source, relation, target: found, weight }
}

function targetOf(
  { relation, target }: FileReference,
  path: string,
  evaluator: Evaluator,
  facts: Facts,
): LinkTarget | null {
  if ('local' in target) return { path, key: target.local }
  if (relation === 'MENTIONS') return isUndeclared(target) ? facts.conceptNamed(target.name) : null
  if (relation === 'LINKS_TO') return 'module' in target ? linkTarget(path, target.module, facts) : null
  const value = evaluator.evaluate(target, path)
  return value === null ? null : placeOf(value, relation, facts)
}

function placeOf(value: Value, relation: Relation, facts: Facts): LinkTarget | null {
  if (value.is === 'symbol' && relation !== 'DEPENDS_ON') return { path: value.path, key: value.key }
  if (relation !== 'DEPENDS_ON') return null
  if (value.is === 'package') return { package: value.name }
  const key = value.is === 'module' ? facts.surface(value.path)?.keys[0] : undefined
  return value.is === 'module' && key !== undefined ? { path: value.path, key } : null
}
