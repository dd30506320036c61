/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "plugins/onnxrun/opencv/opencv_adapter.h"

#include <cstdlib>
#include <cstring>
#include <exception>
#include <memory>
#include <opencv2/core/utils/logger.hpp>
#include <opencv2/core/version.hpp>
#include <opencv2/dnn.hpp>
#include <string>
#include <vector>

namespace
{

struct net {
    cv::dnn::Net graph;
    std::vector<cv::Mat> outputs; /* of the last run */
};

/* OpenCV's message, whose first line is "OpenCV(4.6.0) file:line: error: (code) text". */
char *problem_of(const std::exception &e)
{
    std::string text = e.what();
    const auto begin = text.find("error: ");
    if (begin != std::string::npos)
        text.erase(0, begin + 7);
    while (!text.empty() && (text.back() == '\n' || text.back() == ' '))
        text.pop_back();
    for (char &c : text)
        c = c == '\n' ? ' ' : c;
    return strdup(text.c_str());
}

void *open_net(const char *path, int threads, char **out_problem)
{
    try {
        cv::utils::logging::setLogLevel(cv::utils::logging::LOG_LEVEL_SILENT);
        cv::setNumThreads(threads);
        auto opened = std::make_unique<net>();
        opened->graph = cv::dnn::readNetFromONNX(path);
        opened->graph.setPreferableBackend(cv::dnn::DNN_BACKEND_OPENCV);
        opened->graph.setPreferableTarget(cv::dnn::DNN_TARGET_CPU);
        return opened.release();
    } catch (const std::exception &e) {
        *out_problem = problem_of(e);
        return nullptr;
    }
}

void take_output(cv::Mat &mat, onnxrun_array *out)
{
    if (!mat.isContinuous())
        mat = mat.clone();
    *out = {};
    out->rank = mat.type() == CV_32F && mat.dims <= ONNXRUN_RANK_MAX ? mat.dims : -1;
    out->count = 1;
    for (int i = 0; i < out->rank; i++) {
        out->shape[i] = mat.size[i];
        out->count *= mat.size[i];
    }
    out->data = mat.ptr<float>();
}

bool run_net(void *opened, const onnxrun_array *input, const char *const *names, int count,
             onnxrun_array *out, char **out_problem)
{
    try {
        net *n = static_cast<net *>(opened);
        int sizes[ONNXRUN_RANK_MAX];
        for (int i = 0; i < input->rank; i++)
            sizes[i] = static_cast<int>(input->shape[i]);
        n->graph.setInput(cv::Mat(input->rank, sizes, CV_32F, input->data));
        n->outputs.clear();
        n->graph.forward(n->outputs, std::vector<cv::String>(names, names + count));
        for (int i = 0; i < count; i++)
            take_output(n->outputs.at(static_cast<size_t>(i)), &out[i]);
        return true;
    } catch (const std::exception &e) {
        *out_problem = problem_of(e);
        return false;
    }
}

void close_net(void *opened)
{
    delete static_cast<net *>(opened);
}

} // namespace

extern "C" __attribute__((visibility("default"))) const onnxrun_opencv *onnxrun_opencv_v1(void)
{
    static const std::string version = std::to_string(cv::getVersionMajor()) + "." +
                                       std::to_string(cv::getVersionMinor()) + "." +
                                       std::to_string(cv::getVersionRevision());
    static const onnxrun_opencv table = {ONNXRUN_OPENCV_ABI, version.c_str(), open_net, run_net,
                                         close_net};
    return &table;
}
