// Makes dist/onnx: of ONNX Runtime for WebAssembly the one build that Node runs, in three files. The npm package holds four
// builds and their source maps (139 MB), which a user would download for the 14 MB that run.
import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { rolldown } from 'rolldown'

const root = fileURLToPath(new URL('..', import.meta.url))

/** The package names its licence without holding the text. */
const LICENCE = `onnxruntime-web, onnxruntime-common
-----------------------------------
MIT License

Copyright (c) Microsoft Corporation. All rights reserved.

Permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated documentation
files (the "Software"), to deal in the Software without restriction, including without limitation the rights to use, copy,
modify, merge, publish, distribute, sublicense, and/or sell copies of the Software, and to permit persons to whom the
Software is furnished to do so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in all copies or substantial portions of the
Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE
WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR
COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE,
ARISING FROM, OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.
`

export async function bundleOnnx(folder: string = join(root, 'dist/onnx')): Promise<void> {
  const from = join(root, 'node_modules/onnxruntime-web/dist')
  mkdirSync(folder, { recursive: true })
  const bundle = await rolldown({ input: join(from, 'ort.node.min.mjs'), platform: 'node' })
  await bundle.write({ file: join(folder, 'ort.mjs'), format: 'esm', minify: false })
  await bundle.close()
  // The bundle looks for these two beside itself.
  for (const file of ['ort-wasm-simd-threaded.mjs', 'ort-wasm-simd-threaded.wasm']) {
    copyFileSync(join(from, file), join(folder, file))
  }
  writeFileSync(join(folder, 'LICENCE'), LICENCE)
}
