// Bars and quantiles of the multilingual model, as scripts/calibrate-languages.ts measures them on
// bench/data/languages/development.jsonl.
export const MULTILINGUAL_CALIBRATION = {
  calibration: {
    wordShare: 0.1,
    refused: {
      base: 0.13,
      slope: 0.025,
    },
    answered: {
      base: 0.24,
      slope: 0.05,
    },
  },
  cosineScale: 1.99,
  languagePairs: {
    across: {
      wordShare: 0.1,
      refused: {
        base: 0.09,
        slope: 0.025,
      },
      answered: {
        base: 0.24,
        slope: 0.05,
      },
    },
    pairs: {},
    unrelated: {
      same: [-0.092, -0.058, -0.04, -0.007, 0.032, 0.077, 0.122, 0.153, 0.225, 0.288],
      across: [-0.096, -0.064, -0.046, -0.013, 0.027, 0.072, 0.118, 0.146, 0.209, 0.305],
    },
  },
}
