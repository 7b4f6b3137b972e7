/** QE-019: a document of nodes is checked and written in turns of others, who see nothing of it before its end. */
import { expect, it, vi } from 'vitest'
import { openChroma } from '../../../../../src/openings/chroma.ts'
import { NOW, openWorld } from '../../../../support/open-chroma-world.ts'
import { tempFolder } from '../../../../support/temp-folder.ts'
import { turnsOf } from '../../../../support/turns-of.ts'

vi.mock('../../../../../src/base/turns.ts', async original =>
  (await import('../../../../support/turns-of.ts')).alwaysDue(original),
)

const NODES = 300

it('QE-019: an import of nodes takes a turn for each that it checks and each that it writes, all or nothing', async () => {
  await using from = await openWorld()
  const id = await from.node()
  const document = await from.chroma.exportNodes()
  const [node] = document.nodes
  const nodes = Array.from({ length: NODES }, (_, at) => ({ ...node, entry_id: `${id}-${at}` }))
  using folder = tempFolder()
  await using to = await openChroma({ home: folder.path, embedder: 'none', background: false, now: () => NOW })
  const seen = new Set<string>()
  const look = async () => seen.add(`${to.listHashtags().length} ${(await to.exportNodes()).nodes.length}`)
  const { turns, result } = await turnsOf(() => to.importNodes({ ...document, nodes } as never), look)
  expect(result).toEqual({ imported: NODES })
  expect(turns).toBeGreaterThanOrEqual(2 * NODES)
  const bindings = Object.keys(document.bindings ?? {}).length
  expect([...seen].filter(one => one !== '0 0' && one !== `${bindings} ${NODES}`)).toEqual([])
  expect(to.listHashtags()).toHaveLength(bindings)
  // The last one is refused: nothing of the others stays, no hashtag either.
  using other = tempFolder()
  await using empty = await openChroma({ home: other.path, embedder: 'none', background: false, now: () => NOW })
  const wrong = { ...document, nodes: [...nodes, { ...node, entry_id: 'last', color: [1, 2, 3] }] }
  await expect(empty.importNodes(wrong as never)).rejects.toMatchObject({ code: 'color_mismatch' })
  expect([empty.listHashtags().length, (await empty.exportNodes()).nodes.length]).toEqual([0, 0])
})
