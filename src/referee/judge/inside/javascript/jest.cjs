// Put behind `facts`: loaded before each test file; a test that must fail, and a look at `expect` after each test.
const { expect: judging, test: testing, afterEach: after } = require("@jest/globals");
const offered = globalThis.expect;

testing(facts.name, () => {
  throw new Error(facts.says);
});

after(() => {
  let bent = true;
  try {
    judging(1).toBe(2);
  } catch {
    bent = false;
  }
  if (bent || globalThis.expect !== offered) throw new Error("the code under test replaced what tests judge with");
});
