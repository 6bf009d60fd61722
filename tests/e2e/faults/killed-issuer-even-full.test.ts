import { describeKills } from "../harness/kill-chain";

describeKills("issuer", "even");
