/** Keys of federations that live here, kept as agents' keys are, and who followed whom. */
import type { Instant } from '../../../base/clock.ts'
import { fromBase64Url, toBase64Url } from '../../../identity/encoding.ts'
import { type Keys, keysOf, SEED_BYTES } from '../../../identity/keys.ts'
import { signStatement } from '../../../identity/statement.ts'
import { toIso } from '../../../model/instant.ts'
import { FEDERATIONS } from '../../../store/core-tables.ts'
import type { StoreReader, StoreWriter } from '../../../store/store.ts'
import { ROTATION, type Rotation, type RotationStatement } from '../schema/agents.ts'
import { raiseRevision } from '../trust/revisions.ts'

type Random = (bytes: number) => Uint8Array

/** A new pair, kept here. */
export function makeFederationKeys(writer: StoreWriter, federation: string, random: Random): Keys {
  const seed = random(SEED_BYTES)
  writer.setMeta(keyName(federation), toBase64Url(seed))
  return keysOf(seed)
}

/** The pair that the federation signs with; null: its key is not here, for it lives elsewhere or brought a key of its own. */
export function federationKeys(reader: StoreReader, federation: string): Keys | null {
  const seed = fromBase64Url(reader.meta(keyName(federation)) ?? '', SEED_BYTES)
  const keys = seed === null ? null : keysOf(seed)
  return keys !== null && keys.did === reader.table(FEDERATIONS).get({ id: federation })?.['did'] ? keys : null
}

/** From the first key on. */
export function rotationsOf(reader: StoreReader, federation: string): readonly Rotation[] {
  return JSON.parse(reader.meta(rotationsName(federation)) ?? '[]') as readonly Rotation[]
}

/** Puts a new key in the place of `old`, which signs it and then signs nothing more. */
export function rotateKeys(
  writer: StoreWriter,
  { federation, old, now, random }: { federation: string; old: Keys; now: Instant; random: Random },
): Rotation {
  const keys = makeFederationKeys(writer, federation, random)
  const statement: RotationStatement = {
    ...{ type: ROTATION, federation },
    ...{ old_did: old.did, new_did: keys.did, issued_at: toIso(now) },
  }
  const rotation = { statement, signature: signStatement(old, { ...statement }) }
  writer.setMeta(rotationsName(federation), JSON.stringify([...rotationsOf(writer, federation), rotation]))
  const row = writer.table(FEDERATIONS).get({ id: federation })
  if (row === undefined) throw new Error('invariant broken: keys of no federation')
  writer.table(FEDERATIONS).put({ ...row, did: keys.did })
  raiseRevision(writer, 'members')
  return rotation
}

function keyName(federation: string): string {
  return `federation_key:${federation}`
}

function rotationsName(federation: string): string {
  return `federation_rotations:${federation}`
}
