/** Colours of kinds of concepts and links: the drawing, its legends and the list use the same. */

const GROUPS: Readonly<Record<string, string>> = {
  Module: 'file',
  Document: 'text',
  Section: 'text',
  Class: 'class',
  Interface: 'type',
  TypeAlias: 'type',
  Enum: 'type',
  Function: 'function',
  Method: 'method',
  Constant: 'value',
  Package: 'package',
  Caveat: 'note',
}

/** Kinds that are alike share one; what a model has named is `other`. */
export function colourOf(kind: string): string {
  return `var(--graph-${GROUPS[kind] ?? 'other'})`
}

const LINKS: Readonly<Record<string, string>> = {
  CALLS: 'function',
  USES: 'value',
  EXTENDS: 'class',
  IMPLEMENTS: 'type',
  DEPENDS_ON: 'file',
  MENTIONS: 'text',
  LINKS_TO: 'text',
}

/** Of what stands in what, quiet: there is one for nearly every concept. */
export function linkColourOf(relation: string): string {
  return `var(--graph-${LINKS[relation] ?? 'link'})`
}

/** In words: `DEPENDS_ON` is "depends on". */
export function relationName(relation: string): string {
  return relation.toLowerCase().replaceAll('_', ' ')
}

/** As the browser computes it now, for what draws by itself: `rgb(…)`. */
export function computedColour(colour: string, beside: HTMLElement): string {
  const probe = document.createElement('i')
  probe.style.color = colour
  beside.append(probe)
  const { color } = getComputedStyle(probe)
  probe.remove()
  return color
}
