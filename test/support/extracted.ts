/** Extracts and links a folder of files, and tells the result in the words of the oracles. */
import { readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import type { Extraction, Reference } from '../../src/lenses/context/extract/concept.ts'
import { extractFile, isSkip } from '../../src/lenses/context/extract/extract-file.ts'
import { type Grammars, grammarsFor } from '../../src/lenses/context/extract/grammars.ts'
import type { LinkTarget } from '../../src/lenses/context/extract/resolve/code-graph.ts'
import { CodeGraph } from '../../src/lenses/context/extract/resolve/code-graph.ts'
import type { CodeFacts } from './script-oracle.ts'

export { grammarsFor }

/** Files below the folder with one of the endings, relative to it and in order. */
export function filesBelow(root: string, endings: RegExp): string[] {
  return readdirSync(root, { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile() && endings.test(entry.name))
    .map(entry => relative(root, join(entry.parentPath, entry.name)).replaceAll('\\', '/'))
    .sort()
}

export function readFiles(root: string, paths: readonly string[]): Map<string, string> {
  return new Map(paths.map(path => [path, readFileSync(join(root, path), 'utf8')]))
}

export async function extractAll(files: ReadonlyMap<string, string>): Promise<Extraction[]> {
  const grammars = await grammarsFor(files.keys())
  return [...files].map(([path, text]) => extractOrThrow(grammars, path, text))
}

/** Extracts without a time limit; fails the test where the file is skipped. */
export function extractOrThrow(grammars: Grammars, path: string, text: string): Extraction {
  const result = extractFile(path, text, grammars, { isOverdue: () => false })
  if (isSkip(result)) throw new Error(`${path} was skipped: ${result.reason}`)
  return result
}

export async function graphOf(
  files: Readonly<Record<string, string>> | ReadonlyMap<string, string>,
): Promise<CodeGraph> {
  const graph = new CodeGraph()
  graph.update({ put: await extractAll(files instanceof Map ? files : new Map(Object.entries(files))) })
  return graph
}

/** Every link as `<file>#<name> <relation> <file>#<name>`. */
export function factsOf(graph: CodeGraph): CodeFacts {
  const declarations = new Set<string>()
  const relations = new Set<string>()
  for (const path of graph.paths()) {
    for (const { type, name } of graph.extraction(path)?.concepts ?? []) declarations.add(`${type} ${name} ${path}`)
    for (const { source, relation, target } of graph.links(path)) {
      const text = `${nameOf(graph, { path, key: source })} ${relation} ${nameOf(graph, target)}`
      if (nameOf(graph, { path, key: source }) !== nameOf(graph, target)) relations.add(text)
    }
  }
  return { declarations, relations }
}

export function nameOf(graph: CodeGraph, target: LinkTarget): string {
  if ('package' in target) return target.package
  const concept = graph.extraction(target.path)?.concepts.find(({ key }) => key === target.key)
  if (concept === undefined) throw new Error(`a link leads to ${target.path}#${target.key}, which is not there`)
  return `${target.path}#${concept.name}`
}

/** Concepts of one text as `<type> <name>`, without the file's own. */
export async function conceptsOf(path: string, text: string): Promise<string[]> {
  const grammars = await grammarsFor([path])
  return extractOrThrow(grammars, path, text)
    .concepts.slice(1)
    .map(({ type, name }) => `${type} ${name}`)
}

/** References of one text before they are resolved, as `<source name> <relation> <target as written>`. */
export async function referencesOf(path: string, text: string): Promise<string[]> {
  const grammars = await grammarsFor([path])
  const { concepts, references } = extractOrThrow(grammars, path, text)
  const names = new Map(concepts.map(({ key, name }) => [key, name]))
  return references.map(({ source, relation, target }) => `${names.get(source)} ${relation} ${written(target, names)}`)
}

/** Links of a workspace as `<file>#<name> <relation> <file>#<name> <weight>`, in order. */
export function linksOf(graph: CodeGraph, relation?: string): string[] {
  return graph.paths().flatMap(path =>
    graph
      .links(path)
      .filter(link => relation === undefined || link.relation === relation)
      .map(({ source, relation: of, target, weight }) => {
        return `${nameOf(graph, { path, key: source })} ${of} ${nameOf(graph, target)} ${weight}`
      }),
  )
}

function written(target: Reference, names: ReadonlyMap<string, string>): string {
  if ('local' in target) return names.get(target.local) ?? '?'
  if ('module' in target) return target.name ?? target.module
  if ('name' in target) return target.name
  return 'member' in target ? target.member : written(target.of, names)
}
