import { execFileSync } from 'node:child_process'
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { describe, expect, it } from 'vitest'
import { walk } from '../../../src/ingest/walk.ts'
import { locked, tempFolder } from './temp-folder.ts'

/** `path` for a file, `path: reason` for what was left out. */
async function found(root: string, signal = new AbortController().signal): Promise<readonly string[]> {
  const lines: string[] = []
  for await (const item of walk(root, signal)) {
    const path = relative(root, item.path)
    if (item.kind === 'file') lines.push(path)
    else lines.push(`${path}: ${item.kind === 'skipped' ? item.reason : (item.error as NodeJS.ErrnoException).code}`)
  }
  return lines
}

describe('walk', () => {
  it('finds files in the order of their names, folder by folder', async () => {
    const root = tempFolder({ 'b.md': '', 'a.md': '', 'sub/z.md': '', 'sub/a/x.md': '', 'Z.md': '', 'aa/x.md': '' })
    expect(await found(root)).toEqual(['Z.md', 'a.md', 'b.md', 'aa/x.md', 'sub/z.md', 'sub/a/x.md'])
  })

  it('leaves out what is not written by people', async () => {
    const root = tempFolder({
      '.git/config': '',
      '.querent/store.db': '',
      'node_modules/x/index.js': '',
      'sub/node_modules/y.js': '',
      'package-lock.json': '{}',
      'app.min.js': '',
      'picture.PNG': '',
      'text.md': '',
    })
    expect(await found(root)).toEqual([
      'app.min.js: excluded',
      'node_modules: excluded',
      'package-lock.json: excluded',
      'picture.PNG: media',
      'text.md',
      'sub/node_modules: excluded',
    ])
  })

  it('keeps gitignore rules, the deeper file deciding', async () => {
    const root = tempFolder({
      '.gitignore': '*.log\n/build/\ndocs/*.tmp\n!keep.log\n',
      'a.log': '',
      'keep.log': '',
      'build/x.md': '',
      'sub/build/x.md': '',
      'sub/.gitignore': '!b.log\n/c.md\n',
      'sub/a.log': '',
      'sub/b.log': '',
      'sub/c.md': '',
      'sub/d/c.md': '',
      'docs/a.tmp': '',
      'docs/e/a.tmp': '',
    })
    expect((await found(root)).filter(line => !line.includes('.gitignore'))).toEqual([
      'a.log: ignored',
      'build: ignored',
      'keep.log',
      'docs/a.tmp: ignored',
      'docs/e/a.tmp',
      'sub/a.log: ignored',
      'sub/b.log',
      'sub/c.md: ignored',
      'sub/build/x.md',
      'sub/d/c.md',
    ])
  })

  it('lets .querentignore add rules and take some back', async () => {
    const root = tempFolder({
      '.gitignore': '*.csv\n',
      '.querentignore': '!data.csv\n!package-lock.json\nsecret.md\n',
      'data.csv': '',
      'other.csv': '',
      'package-lock.json': '',
      'secret.md': '',
    })
    expect((await found(root)).filter(line => !line.startsWith('.'))).toEqual([
      'data.csv',
      'other.csv: ignored',
      'package-lock.json',
      'secret.md: ignored',
    ])
  })

  it('knows the rules of the repository around the folder, unless the folder itself is ignored', async () => {
    const top = tempFolder({
      '.git/info/x': '',
      '.gitignore': '/build/\n*.log\n',
      'docs/a.log': '',
      'docs/a.md': '',
      'build/a.log': '',
      'build/a.md': '',
    })
    expect(await found(join(top, 'docs'))).toEqual(['a.log: ignored', 'a.md'])
    expect(await found(join(top, 'build'))).toEqual(['a.log', 'a.md'])
  })

  it('takes no rules from above where there is no repository', async () => {
    const top = tempFolder({ '.gitignore': '*.md\n', 'docs/a.md': '' })
    expect(await found(join(top, 'docs'))).toEqual(['a.md'])
  })

  it('follows no links, loops included, and waits on no pipe', async () => {
    const root = tempFolder({ 'a.md': 'a', 'sub/b.md': 'b' })
    symlinkSync('..', join(root, 'sub', 'loop'))
    symlinkSync('a.md', join(root, 'link.md'))
    symlinkSync('nowhere', join(root, 'broken.md'))
    execFileSync('mkfifo', [join(root, 'pipe')])
    expect(await found(root)).toEqual([
      'a.md',
      'broken.md: symlink',
      'link.md: symlink',
      'pipe: special',
      'sub/b.md',
      'sub/loop: symlink',
    ])
  })

  it('takes names with line ends and blanks as they are, and tells of names that are no text', async () => {
    const root = tempFolder({ 'line\nend.md': '', ' blank .md': '', '#x.md': '', 'ñ.md': '' })
    writeFileSync(Buffer.concat([Buffer.from(`${root}/bad`), Buffer.from([0xff, 0xfe])]), '')
    expect(await found(root)).toEqual([' blank .md', '#x.md', 'bad\ufffd\ufffd: bad_name', 'line\nend.md', 'ñ.md'])
  })

  it('passes over a folder that cannot be read', async () => {
    const root = tempFolder({ 'a.md': '', 'shut/b.md': '', 'z.md': '' })
    const lines = await locked(join(root, 'shut'), () => found(root))
    expect(lines).toEqual(['a.md', 'z.md', 'shut: EACCES'])
  })

  it('goes deep without recursion', async () => {
    const root = tempFolder()
    let folder = root
    for (let depth = 0; depth < 300; depth++) folder = join(folder, 'd')
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, 'end.md'), '')
    expect(await found(root)).toHaveLength(1)
  })

  it('stops when told to', async () => {
    const controller = new AbortController()
    controller.abort()
    expect(await found(tempFolder({ 'a.md': '' }), controller.signal)).toEqual([])
  })
})
