import { doneSteps, toldLines } from "../e2e/harness/plan-lines";

const PRINTED = `Updating (stack):

 +  pulumi-nodejs:dynamic/etcd:TrustBundle etcd creating (0s) 
 +  pulumi-nodejs:dynamic/etcd:TrustBundle etcd creating (0s) ask Issuer etcd-ca for its CA
 +  pulumi-nodejs:dynamic/etcd:TrustBundle etcd created (0.77s) ask Issuer etcd-ca for its CA
 +  kubernetes:cert-manager.io/v1:Certificate etcd-peer-cert creating (0s) Skipping await logic
 ~  pulumi-nodejs:dynamic/etcd:Rollout etcd updating (0s) [diff: +settled~operation,plan,spec]
 ~  pulumi-nodejs:dynamic/etcd:Rollout etcd updating (1m1s) [diff: +settled~plan]; pass 1/1: restarting etcd-0 (1 of 1)
 ~  pulumi-nodejs:dynamic/etcd:Rollout etcd updating (4s) [diff: ~plan]; pass 1/1: restart etcd-0: serving again after 3.6 s
`;

test("what an update has told is read from its rows, each line once", () => {
  expect(toldLines(PRINTED)).toEqual([
    "ask Issuer etcd-ca for its CA",
    "pass 1/1: restarting etcd-0 (1 of 1)",
    "pass 1/1: restart etcd-0: serving again after 3.6 s",
  ]);
});

test("a restart that has begun is no step that is done", () => {
  expect(doneSteps(PRINTED)).toEqual([
    "ask Issuer etcd-ca for its CA",
    "pass 1/1: restart etcd-0: serving again after 3.6 s",
  ]);
});

test("a certificate is issued anew for a reason, which is told with it", () => {
  const told = "re-issue Certificate etcd-peer-cert: it expired on Jan 1 2026";
  expect(doneSteps(` ~  pulumi-nodejs:dynamic/etcd:Rollout etcd updating (2s) [diff: ~plan]; ${told}\n`)).toEqual([
    told,
  ]);
});

test("of a row that is being written nothing is taken", () => {
  expect(toldLines(" ~  pulumi-nodejs:dynamic/etcd:Rollout etcd updating (4s) [diff: ~pl")).toEqual([]);
});
