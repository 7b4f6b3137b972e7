/** What takes minutes at a million: building indexes from the store, the doctor, a backup. */
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Figure } from './figures.ts'
import { INDEXES, openAt, rest, shortName } from './opened.ts'
import { spent } from './store.ts'

/** All indexes from the store alone. */
export async function rebuild(home: string): Promise<readonly Figure[]> {
  rmSync(join(home, 'index'), { recursive: true, force: true })
  const before = await rest()
  const engine = await openAt(home)
  const host = engine.host('default')
  const figures: Figure[] = []
  for (const name of INDEXES) {
    const { seconds, cpu } = await spent(async () => host.index(name))
    const what = `build ${shortName(name)} from the store`
    figures.push({ name: what, unit: 's', value: seconds }, { name: `${what}, processor time`, unit: 's', value: cpu })
  }
  const most = process.resourceUsage().maxRSS / 1024
  figures.push({
    name: 'memory at most while building, beyond that before it',
    unit: 'MiB',
    value: most - before / 2 ** 20,
  })
  // Closing would save them, which is measured elsewhere.
  process.once('beforeExit', () => process.exit())
  return figures
}

export async function doctor(home: string): Promise<readonly Figure[]> {
  await using engine = await openAt(home)
  const { seconds } = await spent(async () => {
    const { ok, findings } = await engine.doctor()
    if (!ok) throw new Error(`the doctor found something: ${JSON.stringify(findings.filter(finding => !finding.ok))}`)
  })
  return [{ name: 'doctor', unit: 's', value: seconds }]
}

export async function backup(home: string): Promise<readonly Figure[]> {
  await using engine = await openAt(home)
  const { seconds } = await spent(() => engine.backup({ to: join(home, 'copy.db') }))
  return [{ name: 'backup', unit: 's', value: seconds }]
}
