// Put behind `facts`: loaded before each test file; tests that must fail, first and last, and a look at `assert`.
const assert = require("node:assert");
const path = require("node:path");
const { isMainThread } = require("node:worker_threads");

if (isMainThread && process.env.NODE_TEST_CONTEXT && facts.files.includes(path.resolve(process.argv[1] ?? ""))) {
  const { test, afterEach } = require("node:test");
  const must = ["ok", "equal", "strictEqual", "deepEqual", "deepStrictEqual", "rejects", "throws"];
  const sound = must.map((name) => [name, assert[name], assert.strict[name]]);
  const fail = () => {
    throw new Error(facts.says);
  };
  test(facts.name, fail);
  setImmediate(() => test(`${facts.name} last`, fail));
  afterEach(() => {
    for (const [name, plain, strict] of sound) {
      if (assert[name] !== plain || assert.strict[name] !== strict) {
        throw new Error(`the code under test replaced assert.${name}`);
      }
    }
  });
}
