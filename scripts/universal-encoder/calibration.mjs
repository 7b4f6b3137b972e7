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
  cosineScale: 2,
  languagePairs: {
    across: {
      wordShare: 0.1,
      refused: {
        base: 0.06,
        slope: 0.025,
      },
      answered: {
        base: 0.24,
        slope: 0.05,
      },
    },
    pairs: {},
    unrelated: {
      same: [-0.091, -0.057, -0.038, -0.006, 0.033, 0.077, 0.122, 0.152, 0.223, 0.291],
      across: [-0.097, -0.064, -0.045, -0.012, 0.027, 0.073, 0.119, 0.147, 0.213, 0.302],
    },
  },
}
