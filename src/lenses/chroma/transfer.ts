/** Imports into a store: hashtags may lie on no other anchors than they do, and followers hear of what came in. */
import { sha256 } from '../../base/canonical.ts'
import { invalidArgument } from '../../model/errors.ts'
import type { Row } from '../../model/table.ts'
import type { StoreWriter } from '../../store/store.ts'
import type { ImportContext, LensImport, LensTransfer } from '../lens.ts'
import { bindingOf, HASHTAG_STAMP } from './colour/bindings.ts'
import { tellUses } from './memory/memory-rows.ts'
import { stateOf } from './state.ts'
import { HASHTAGS, MEMORY } from './tables.ts'

export const CHROMA_TRANSFER: LensTransfer = {
  flush: host => stateOf(host).access.flush(),
  beginImport: (writer, context) => new ChromaImport(writer, context),
}

class ChromaImport implements LensImport {
  readonly #writer: StoreWriter
  readonly #context: ImportContext
  readonly #viewers = new Set<string>()
  #hasBindings = false

  constructor(writer: StoreWriter, context: ImportContext) {
    this.#writer = writer
    this.#context = context
  }

  row(table: string, row: Row): Row {
    if (table === MEMORY.name) this.#viewers.add(row['viewer'] as string)
    if (table === HASHTAGS.name) this.#checkBinding(row)
    return row
  }

  /** Colours are made of anchors: with another binding, nodes would lie where they do not belong. */
  #checkBinding(row: Row): void {
    const { anchor, hashtag } = row as { anchor: number; hashtag: string }
    if (bindingOf(hashtag, anchor) === undefined) throw invalidArgument('anchor', anchor, 'an anchor that there is')
    const there = this.#writer.table(HASHTAGS)
    const other = [there.get({ anchor }), ...there.scan({ hashtag })].find(
      each => each !== undefined && (each['anchor'] !== anchor || each['hashtag'] !== hashtag),
    )
    if (other !== undefined) {
      const expected = `the binding that this store has, ${other['hashtag']} on anchor ${other['anchor']}; import into another home`
      throw invalidArgument('hashtag', `${hashtag} on anchor ${anchor}`, expected)
    }
    this.#hasBindings = true
  }

  end(): readonly string[] {
    if (this.#hasBindings) this.#writer.setMeta(HASHTAG_STAMP, sha256(this.#context.random(16)))
    for (const viewer of this.#viewers) tellUses(this.#writer, viewer, null)
    return []
  }
}
