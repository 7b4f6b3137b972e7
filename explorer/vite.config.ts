import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vite'

const here = fileURLToPath(new URL('.', import.meta.url))

/** The page asks nobody but the server it came from, so it can be served from any path and with a strict policy. */
export default defineConfig({
  root: here,
  base: './',
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  build: {
    outDir: '../dist/explorer',
    emptyOutDir: true,
    target: 'es2022',
    // Of browsers that know light-dark(): else it is rewritten to something that no setting of a theme can change.
    cssTarget: ['chrome123', 'firefox120', 'safari17.5'],
    // Policies without `data:` and without inline scripts must do.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 900,
  },
})
