/**
 * What an id among the sources of a belief names (BQ-090, BQ-097): a version of one holder, settled when it was written and
 * kept with the source, so that a belief that is stored later under the same id changes nothing.
 */
import type { Derivation, DerivationSource } from '../model.ts'

/** One version of one holder, for ever. */
export interface VersionName {
  readonly holder: string
  readonly id: string
}

/** A source as it is kept. */
interface KeptSource extends DerivationSource {
  /**
   * Who holds the belief of this id that the writer meant; null: the writer saw none. Absent in versions that were written
   * before this was kept: then the writer's own is meant, for nobody else can store one under its name.
   */
  readonly holder?: string | null
}

export interface KeptDerivation extends Derivation {
  readonly sources: readonly KeptSource[]
}

/** The version that a source of a belief of the writer's names; null: none, or none that the writer saw. */
export function namedBy({ belief_id: id, holder: kept }: KeptSource, writer: string): VersionName | null {
  const holder = kept === undefined ? writer : kept
  return id === null || holder === null ? null : { holder, id }
}

/** As it goes over the wire: who holds what is named is not told. */
export function withoutHolder({ holder: _, ...source }: KeptSource): DerivationSource {
  return source
}

/** Sources that a belief rests on: beliefs that were named as primary or supporting (BQ-053). */
export function parentsIn({ sources }: KeptDerivation, writer: string): readonly VersionName[] {
  const named = sources.flatMap(source => {
    const { contribution_type: contribution } = source
    return contribution === 'primary' || contribution === 'supporting' ? (namedBy(source, writer) ?? []) : []
  })
  return named.filter(({ holder, id }, at) => named.findIndex(each => each.holder === holder && each.id === id) === at)
}
