/** kill -9 of a process that indexes code, at any moment: every file is as before or as it is now, and the next run does the rest. */

import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { openCodeFolder } from '../support/code-folder.ts'
import { damageIn } from '../support/damage-in.ts'
import { seededUniform } from '../support/seeded.ts'
import { Child } from './child.ts'

export const FILES = 120
/** The child says a line for each file read, then one for each transaction of 16. */
const MAX_LINES = 130
/** How often it is let to get as far as its transactions. */
const WHILE_WRITING = 0.6
const MAX_WAIT_MS = 25
const PATIENCE = 20_000

export interface ContextKills {
  kills: number
  /** Files read and transactions written that children reported. */
  acts: number
  /** Kills that left files of two versions beside each other, as they may be. */
  cutOff: number
  wrong: string[]
}

export async function killContext(kills: number, seed: number): Promise<ContextKills> {
  const random = seededUniform(seed)
  const figures: ContextKills = { kills: 0, acts: 0, cutOff: 0, wrong: [] }
  await using code = await openCodeFolder({})
  const home = join(code.path, '.querent')
  for (; figures.kills < kills; figures.kills++) {
    code.write(filesOf(figures.kills))
    figures.acts += (await liveAndDie(home, random)).length
    const concepts = code.concepts()
    figures.cutOff += versionsIn(concepts) > 1 ? 1 : 0
    const wrong = [...(await damageIn(code.engine.host('context').store)), ...mixed(concepts)]
    figures.wrong.push(...wrong.map(line => `kill ${figures.kills}: ${line}`))
  }
  await code.do('/context/index')
  await using fresh = await openCodeFolder(filesOf(kills - 1))
  await fresh.do('/context/index')
  for (const reported of ['concepts', 'relations'] as const) {
    if (JSON.stringify(code[reported]()) !== JSON.stringify(fresh[reported]()))
      figures.wrong.push(`at the end: other ${reported}`)
  }
  return figures
}

async function liveAndDie(home: string, random: () => number): Promise<readonly string[]> {
  await using child = new Child('kill-context-child.ts', import.meta.url, [home])
  await child.says('')
  const lines = random() < WHILE_WRITING ? FILES : Math.floor(random() * MAX_LINES)
  for (let waited = 0; child.lines.length < lines && !isDone(child) && waited < PATIENCE; waited++) await sleep(1)
  await sleep(random() * MAX_WAIT_MS)
  return await child.kill()
}

function isDone(child: Child): boolean {
  return child.lines.at(-1) === 'done'
}

/** Every version has other concepts in each file, and links to other files. */
export function filesOf(version: number): Readonly<Record<string, string>> {
  const files = Array.from({ length: FILES }, (_, at) => {
    const other = (at * 7 + version * 13 + 1) % FILES
    const text = `import { f${other}v${version} } from './f${other}.ts'
export function f${at}v${version}() { f${other}v${version}() }
export class C${at}v${version} {}
`
    return [`f${at}.ts`, text] as const
  })
  return Object.fromEntries(files)
}

/** Files that have concepts of two versions, or of one not all. */
export function mixed(concepts: readonly string[]): readonly string[] {
  const versions = new Map<string, string[]>()
  for (const concept of concepts) {
    const [, version, file] = /^\w+ \w\d+v(\d+) (\S+)$/.exec(concept) ?? []
    if (file !== undefined) versions.set(file, [...(versions.get(file) ?? []), version as string])
  }
  return [...versions].filter(([, of]) => of.length !== 2 || of[0] !== of[1]).map(([file, of]) => `${file}: ${of}`)
}

function versionsIn(concepts: readonly string[]): number {
  return new Set(concepts.flatMap(concept => /^\w+ \w\d+v(\d+) /.exec(concept)?.[1] ?? [])).size
}
