/** Every way in which text comes into a store, is replaced and goes out: what comes in bears marks. */
import { rmSync } from 'node:fs'
import type { JsonObject } from '../../src/base/canonical.ts'
import type { ErasureStory } from './erasure-story.ts'

/** Gives a mark that was never given before. */
export type Marks = () => string

/** Something in a store. */
export interface Thing {
  /** Of the entries it is, as far as vectors are looked for. */
  ids(): readonly string[]
  /** Gives it other marks. */
  change?(mark: Marks): Promise<void>
  remove(): Promise<void>
}

export type Way = (story: ErasureStory, mark: Marks) => Promise<Thing>

const entry: Way = async (story, mark) => {
  const id = `entry-${story.next()}-${mark()}`
  const put = async (m: Marks) => {
    const content = story.text(m)
    const metadata = { [m()]: m(), list: [m()] }
    await story.engine.put({
      entries: [{ id, content, title: m(), tags: [m(), 'common'], metadata, origin: `/nowhere/${m()}` }],
      wait: true,
    })
  }
  await put(mark)
  return { ids: () => [id], remove: async () => void (await story.engine.delete({ ids: [id] })) }
}

/** As `entry`, under an id that says nothing, so that it can be replaced. */
const changing: Way = async (story, mark) => {
  const id = `changing-${story.next()}`
  const put = async (m: Marks) => {
    const content = `# ${m()}\n\n${story.text(m)}\n\n## ${m()}\n\n${story.text(m)}`
    await story.engine.put({ entries: [{ id, content, tags: [m()], metadata: { a: { b: m() } } }], wait: true })
  }
  await put(mark)
  return { ids: () => [id], change: put, remove: async () => void (await story.engine.delete({ ids: [id] })) }
}

/** Files, one folder each, so that removing one and adding the folder again deletes its entries. */
const file: Way = async (story, mark) => {
  const number = story.next()
  const folder = `files-${number}`
  const add = async () => void (await story.engine.add({ paths: [story.pathOf(folder)], wait: true }))
  const write = (m: Marks) =>
    story.writeFile(
      `${folder}/one.md`,
      `---\ntitle: ${m()}\ntags: [${m()}]\nauthor: ${m()}\n---\n\n# ${m()}\n\n${story.text(m)}\n`,
    )
  write(mark)
  story.writeFile(`${folder}/stays.md`, 'Something stays here.')
  await add()
  return {
    ids: () => [],
    change: async m => {
      write(m)
      await add()
    },
    remove: async () => {
      rmSync(story.pathOf(`${folder}/one.md`))
      await add()
    },
  }
}

/** A file whose path is marked. */
const namedFile: Way = async (story, mark) => {
  const number = story.next()
  const name = `named-${number}/${mark()}.md`
  const lines = story.text(mark)
  story.writeFile(name, lines)
  const add = async () => void (await story.engine.add({ paths: [story.pathOf(`named-${number}`)], wait: true }))
  await add()
  return {
    ids: () => [],
    remove: async () => {
      rmSync(story.pathOf(name))
      story.writeFile(`named-${number}/other.md`, 'Another file.')
      await add()
    },
  }
}

const node: Way = async (story, mark) => {
  const fields = (m: Marks) => ({ label: m(), content: story.text(m), metadata: { note: m() } })
  await story.call('chroma.assign', { starter: true })
  const stored = await story.call('chroma.store', { hashtags: TAGS, ...fields(mark) })
  const entry_id = String(stored['entry_id'])
  return {
    ids: () => [entry_id],
    change: async m => void (await story.call('chroma.update', { entry_id, ...fields(m) })),
    remove: async () => void (await story.call('chroma.delete', { entry_id })),
  }
}

const TAGS = ['databases', 'sqlite', 'transaction', 'locking', 'concurrency', 'filesystem', 'storage', 'stable']

const hashtag: Way = async (story, mark) => {
  const tag = mark()
  await story.call('chroma.assign', { hashtag: tag, zone: 'Mid' })
  return { ids: () => [], remove: async () => void (await story.call('chroma.unassign', { hashtag: tag })) }
}

/** Its versions are kept on purpose; here the current one goes, and it had none before. */
const belief: Way = async (story, mark) => {
  const put = await story.call('beliefs.put', { content: story.text(mark), domains: [`science/${mark()}`] })
  const id = String((put['belief'] as JsonObject)['id'])
  return { ids: () => [id], remove: async () => void (await story.engine.delete({ ids: [id] })) }
}

const concept: Way = async (story, mark) => {
  await story.context('mind/init', {})
  const { id } = await story.context('mind/concepts/create', { name: mark(), type: mark() })
  return {
    ids: () => [],
    change: async m => void (await story.context('mind/concepts/update', { id: id as number, name: m(), type: m() })),
    remove: async () => void (await story.context('mind/concepts/delete', { id: id as number })),
  }
}

const edge: Way = async (story, mark) => {
  await story.context('mind/init', {})
  const make = async () =>
    Number((await story.context('mind/concepts/create', { name: `End${story.next()}`, type: 'End' }))['id'])
  const [source, target] = [await make(), await make()]
  const { id } = await story.context('mind/edges/create', { source, target, relation: mark() })
  return {
    ids: () => [],
    remove: async () => void (await story.context('mind/edges/delete', { id: id as number })),
  }
}

const code: Way = async (story, mark) => {
  const number = story.next()
  const name = `code-${number}/module.ts`
  await story.context('body/init', {})
  await story.context('mind/init', {})
  const index = async () => void (await story.context('index', { path: story.pathOf(`code-${number}`) }))
  const write = (m: Marks) =>
    story.writeFile(
      name,
      `/** About ${m()}. */\nexport function ${m()}(${m()}: string): string {\n  return '${m()}' // ${m()}\n}\n`,
    )
  write(mark)
  story.writeFile(`code-${number}/stays.ts`, 'export const one = 1\n')
  await index()
  return {
    ids: () => [],
    change: async m => {
      write(m)
      await index()
    },
    remove: async () => {
      rmSync(story.pathOf(name))
      await index()
    },
  }
}

const trust: Way = async (story, mark) => {
  const owner = `agent-${story.next()}`
  const set = (m: Marks) =>
    story.call('trust.set', { target: 'somebody', trust_level: 0.5, domain_trust: { [m()]: 0.4 } }, owner)
  await set(mark)
  return {
    ids: () => [],
    change: async m => void (await set(m)),
    remove: async () => void (await story.call('trust.remove', { target: 'somebody' }, owner)),
  }
}

export const WAYS = {
  entry,
  changing,
  file,
  namedFile,
  node,
  hashtag,
  belief,
  concept,
  edge,
  code,
  trust,
} as const satisfies Readonly<Record<string, Way>>
