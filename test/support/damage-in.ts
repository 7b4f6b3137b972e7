import type { Store } from '../../src/store/store.ts'

/** What a look at the whole store finds wrong; none when it is sound. */
export async function damageIn(store: Pick<Store, 'check'>): Promise<readonly string[]> {
  const findings = await store.check()
  return findings.filter(({ ok }) => !ok).map(({ message }) => message)
}
