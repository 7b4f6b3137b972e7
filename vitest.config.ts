import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    testTimeout: 30_000,
    hookTimeout: 60_000,
    // Two cores are what the smallest machine has; more workers only take memory (each may load the model).
    maxWorkers: 2,
  },
})
